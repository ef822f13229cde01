import type { Completion } from '../core/index.ts';

type Phase = 'rollout' | 'reward' | 'update';

/** Times the phases of one step. */
export class Clock {
  readonly #began = performance.now();
  readonly #seconds = new Map<Phase, number>();

  readonly timed = async <T>(phase: Phase, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    this.#seconds.set(phase, (this.#seconds.get(phase) ?? 0) + (performance.now() - began) / 1000);
    return result;
  };

  /**
   * What was measured, apart from what differs from run to run: seconds of each phase, of everything else
   * (`other`), of reward terms, and sampled tokens per second.
   */
  split(
    values: Readonly<Record<string, number>>,
    samples: readonly { completion: Completion }[],
  ): { steady: Record<string, number>; timings: Record<string, number> } {
    const isTime = (name: string): boolean => name.endsWith('/seconds');
    const entries = Object.entries(values);
    const step = (performance.now() - this.#began) / 1000;
    const phases = [...this.#seconds.values()].reduce((sum, seconds) => sum + seconds, 0);
    const tokens = samples.reduce((sum, { completion }) => sum + completion.tokenIds.length, 0);
    const rollout = this.#seconds.get('rollout') ?? 0;
    return {
      steady: Object.fromEntries(entries.filter(([name]) => !isTime(name))),
      timings: {
        ...Object.fromEntries(this.#seconds),
        other: step - phases,
        ...(rollout > 0 ? { tokens_per_second: tokens / rollout } : {}),
        ...Object.fromEntries(entries.filter(([name]) => isTime(name))),
      },
    };
  }
}
