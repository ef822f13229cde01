import { describe, expect, it } from 'vitest';
import {
  type StepMetrics,
  type WatchdogEvent,
  type WatchdogName,
  Watchdogs,
  watchdogConfigSchema,
  watchdogStateSchema,
} from '../../../src/rl/index.ts';

/** One watchdog with these settings; the others are off. */
function only(name: WatchdogName, settings: Record<string, unknown>): Watchdogs {
  const off = Object.keys(watchdogConfigSchema.parse({})).map((one) => [one, { action: 'off' }]);
  return new Watchdogs(watchdogConfigSchema.parse({ ...Object.fromEntries(off), [name]: settings }));
}

/** The events of a series of one metric; its first value is of step 1. */
const barks = (watchdogs: Watchdogs, metric: string, values: readonly (number | null | undefined)[]) =>
  values.flatMap((value, i) => watchdogs.observe(i + 1, { [metric]: value }));

const stepsOf = (events: readonly WatchdogEvent[]): number[] => events.map(({ step }) => step);

describe('a level', () => {
  it('barks when the mean of its window has been too low for as many steps as its patience', () => {
    const watchdogs = only('entropy', { threshold: 0.2, window: 2, patience: 2 });
    // Means of two from step 2 on: 0.3, 0.2 (allowed), 0.15 (bad), 0.1 (bad, the second).
    const events = barks(watchdogs, 'entropy', [0.375, 0.225, 0.175, 0.125, 0.075, 0]);
    expect(events).toEqual([
      {
        step: 5,
        watchdog: 'entropy',
        action: 'warn',
        value: expect.closeTo(0.1, 12),
        threshold: 0.2,
        message:
          'entropy is 0.1 nats per token over 2 step(s), allowed is at least 0.2, bad since step 4: ' +
          'try an entropy bonus, a higher upper clip (policyLoss.epsilonHigh 0.28) or a lower learning rate',
        metrics: ['entropy'],
        firstBadStep: 4,
      },
    ]);
  });

  it('says nothing before its window is full', () => {
    const watchdogs = only('entropy', { threshold: 0.2, window: 3, patience: 1 });
    expect(stepsOf(barks(watchdogs, 'entropy', [0, 0, 0, 0]))).toEqual([3]);
  });

  it('counts anew after a good step', () => {
    const watchdogs = only('kl', { threshold: 1, window: 1, patience: 3 });
    expect(stepsOf(barks(watchdogs, 'kl', [2, 2, 1, 2, 2, 2, 2]))).toEqual([6]);
  });

  it('barks once for bad steps in a row, and again when it turns bad again', () => {
    const watchdogs = only('kl', { threshold: 1, window: 1, patience: 1 });
    expect(stepsOf(barks(watchdogs, 'kl', [2, 2, 2, 0, 2, 2]))).toEqual([1, 5]);
  });

  it.each(['undefined', 'null', 'NaN', 'Infinity'])('neither counts nor forgives a step with %s', (name) => {
    const none = { undefined, null: null, NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY }[name];
    const watchdogs = only('format', { threshold: 0.5, window: 2, patience: 2 });
    // Values 1, 0.4, 0.2, 0.2: means 0.7, 0.3 (bad), 0.2 (bad) at steps 3, 5 and 6. As 0, step 2 would be bad.
    const events = barks(watchdogs, 'reward/format/mean', [1, none, 0.4, none, 0.2, 0.2]);
    expect(events).toMatchObject([{ step: 6, firstBadStep: 5 }]);
  });

  it.each([
    ['entropy', 'entropy', 0.1, 0.3],
    ['kl', 'kl', 0.3, 0.1],
    ['format', 'reward/format/mean', 0.1, 0.3],
    ['repetition', 'completions/repetition', 0.3, 0.1],
    ['identicalGroups', 'frac_reward_zero_std', 0.3, 0.1],
  ] as const)('%s watches %s on its own side', (name, metric, bad, good) => {
    const watchdogs = only(name, { threshold: 0.2, window: 1, patience: 1 });
    expect(stepsOf(barks(watchdogs, metric, [good, 0.2, bad]))).toEqual([3]);
  });

  it('watches the metric of another name that it is given', () => {
    const watchdogs = only('kl', { metric: 'my/kl', threshold: 1, window: 1, patience: 1 });
    expect(stepsOf(barks(watchdogs, 'my/kl', [2]))).toEqual([1]);
  });
});

describe('length', () => {
  const settings = { threshold: 2, baseline: 2, window: 1, patience: 1 };

  it.each([
    // The first two steps have mean 40.
    ['grows beyond the factor', [30, 50, 79, 80, 81], 5, 81 / 40, 2],
    ['shrinks below its inverse', [30, 50, 21, 20, 19], 5, 19 / 40, 0.5],
  ])('barks when it %s', (_, lengths, step, value, threshold) => {
    const events = barks(only('length', settings), 'completions/mean_length', lengths);
    expect(events).toMatchObject([{ step, value, threshold }]);
    expect(events[0]!.message).toContain('that of the first 2 steps (40), allowed is 0.5 to 2 times');
  });

  it('compares with the first steps for ever', () => {
    const events = barks(only('length', settings), 'completions/mean_length', [10, 10, 14, 18, 20, 21]);
    expect(stepsOf(events)).toEqual([6]);
  });

  it('has no ratio to a start of no length', () => {
    expect(barks(only('length', settings), 'completions/mean_length', [0, 0, 50])).toEqual([]);
  });
});

describe('gradientNorm', () => {
  const settings = { threshold: 4, window: 4, patience: 2, minimum: 1 };

  it('barks at norms in a row above a multiple of the median of the good ones', () => {
    // Median of 0.5, 1, 2, 3 is 1.5: the limit 6. Bad norms stay out, so the limit does not grow with them.
    const events = barks(only('gradientNorm', settings), 'gradientNorm', [3, 0.5, 2, 1, 6, 6.5, 6, 7, 7]);
    // After the good 6 at step 5 the window is 0.5, 2, 1, 6: median 1.5 again; after that of step 7: 2, 1, 6, 6, median 4.
    expect(events).toEqual([]);
    const rising = barks(only('gradientNorm', settings), 'gradientNorm', [3, 0.5, 2, 1, 7, 50, 50]);
    expect(rising).toMatchObject([{ step: 6, firstBadStep: 5, value: 50, threshold: 6 }]);
  });

  it('takes no small norm for an explosion', () => {
    const norms = [0, 0, 0, 0, 0.9, 1, 1];
    expect(barks(only('gradientNorm', settings), 'gradientNorm', norms)).toEqual([]);
  });

  it('knows no multiple before its window is full', () => {
    expect(barks(only('gradientNorm', settings), 'gradientNorm', [1, 1, 1, 99])).toEqual([]);
  });
});

describe('rewardHacking', () => {
  const settings = { threshold: 0.1, window: 2, patience: 2, rise: 0.2 };
  /** Rewards of each step, with a validation after every second one. */
  function run(watchdogs: Watchdogs, rewards: readonly number[], correlations: readonly (number | null)[]) {
    return rewards.flatMap((reward, i) => [
      ...watchdogs.observe(i + 1, { 'reward/format/mean': reward, 'reward/format/std': 9, loss: i }),
      ...(i % 2 === 1 ? watchdogs.observe(i + 1, { 'validation/srcc': correlations[(i - 1) / 2] }) : []),
    ]);
  }

  it('barks when a mean reward has risen and the correlation has fallen at validations in a row', () => {
    const events = run(
      only('rewardHacking', settings),
      [0.4, 0.6, 0.7, 0.7, 0.8, 0.8, 0.9, 0.9],
      // Best at step 2, with mean reward 0.5. Step 4: fell by 0.05. Step 6: 0.2 and reward 0.8. Step 8: 0.3 and 0.9.
      [0.8, 0.75, 0.6, 0.5],
    );
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      step: 8,
      watchdog: 'rewardHacking',
      value: expect.closeTo(0.3, 12),
      threshold: 0.1,
      metrics: ['reward/format/mean', 'validation/srcc'],
      firstBadStep: 6,
    });
    expect(events[0]!.message).toContain(
      'reward/format/mean rose from 0.5 to 0.9 while validation/srcc fell from 0.8 to 0.5',
    );
  });

  it.each([
    ['the reward stands still', [0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6], [0.8, 0.6, 0.5, 0.4]],
    ['the correlation holds', [0.4, 0.6, 0.7, 0.7, 0.8, 0.8, 0.9, 0.9], [0.8, 0.71, 0.75, 0.72]],
    ['the correlation recovers in between', [0.4, 0.6, 0.8, 0.8, 0.9, 0.9, 0.9, 0.9], [0.8, 0.6, 0.8, 0.6]],
    [
      'the correlation is missing in between',
      [0.4, 0.6, 0.8, 0.8, 0.9, 0.9, 0.9, 0.9],
      [0.8, 0.6, null, null],
    ],
  ])('is quiet while %s', (_, rewards, correlations) => {
    expect(run(only('rewardHacking', settings), rewards, correlations)).toEqual([]);
  });

  it('compares with the first full window where the best validation came before any step', () => {
    const watchdogs = only('rewardHacking', { ...settings, patience: 1 });
    watchdogs.observe(0, { 'validation/srcc': 0.9 });
    // The first window has mean 0.5; at step 4 the mean is 0.8 and the correlation has fallen by 0.2.
    expect(run(watchdogs, [0.4, 0.6, 0.8, 0.8], [0.85, 0.7])).toMatchObject([{ step: 4, firstBadStep: 4 }]);
  });

  it('names the reward that rose most', () => {
    const watchdogs = only('rewardHacking', { ...settings, window: 1, patience: 1 });
    watchdogs.observe(1, { 'reward/mean': 1, 'reward/a/mean': 0, 'reward/b/mean': 0 });
    watchdogs.observe(1, { 'validation/srcc': 0.9 });
    watchdogs.observe(2, { 'reward/mean': 1.1, 'reward/a/mean': 0.3, 'reward/b/mean': 0.7 });
    const [event] = watchdogs.observe(2, { 'validation/srcc': 0.5 });
    expect(event?.metrics).toEqual(['reward/b/mean', 'validation/srcc']);
  });
});

describe('roll-back', () => {
  const settings = { threshold: 1, window: 1, patience: 3, action: 'roll-back' };
  // Bad from step 5 on. Its metrics are those of the weights of step 4, so checkpoint 4 is bad and 3 is not.
  it.each([
    [[0, 3, 4, 5, 6], 3],
    [[0, 4], 0],
    [[4, 6], null],
    [[], null],
  ])('of checkpoints %j takes %j', (checkpoints, rollBackTo) => {
    const watchdogs = only('kl', settings);
    const events = [0, 0, 0, 0, 2, 2, 2].flatMap((kl, i) => watchdogs.observe(i + 1, { kl }, checkpoints));
    expect(events).toMatchObject([{ step: 7, action: 'roll-back', firstBadStep: 5, rollBackTo }]);
  });
});

describe('all watchdogs', () => {
  it('warn by default', () => {
    const actions = Object.values(watchdogConfigSchema.parse({})).map(({ action }) => action);
    expect(actions).toEqual(new Array(8).fill('warn'));
  });

  it.each([
    [{ entropy: { floor: 1 } }, 'floor'],
    [{ entropie: {} }, 'entropie'],
    [{ length: { threshold: 1 } }, 'threshold'],
    [{ kl: { patience: 0 } }, 'patience'],
    [{ kl: { action: 'shout' } }, 'action'],
  ])('refuse %j', (config, message) => {
    expect(() => watchdogConfigSchema.parse(config)).toThrow(message);
  });

  it('tell which have had no value', () => {
    const watchdogs = new Watchdogs(watchdogConfigSchema.parse({ kl: { action: 'off' } }));
    watchdogs.observe(1, { entropy: 1, 'validation/srcc': 0.5, 'completions/mean_length': Number.NaN });
    expect(watchdogs.unseen().map(({ watchdog }) => watchdog)).toEqual([
      'format',
      'repetition',
      'length',
      'identicalGroups',
      'gradientNorm',
    ]);
  });

  /** A run that goes wrong in every way, with gaps. */
  function troubled(step: number): StepMetrics[] {
    const metrics: Record<string, number> = {
      entropy: 1 / step,
      kl: step / 5,
      'reward/format/mean': Math.max(0, 1 - step / 30),
      'reward/mean': step / 30,
      'completions/repetition': step / 40,
      'completions/mean_length': 30 + step ** 2,
      frac_reward_zero_std: step % 7 === 0 ? Number.NaN : step / 30,
      gradientNorm: step < 30 ? 1 + (step % 3) : 500,
    };
    return [metrics, ...(step % 4 === 0 ? [{ 'validation/srcc': 0.9 - step / 60 }] : [])];
  }
  const observeAll = (watchdogs: Watchdogs, from: number, to: number): WatchdogEvent[] =>
    Array.from({ length: to - from }, (_, i) => from + i).flatMap((step) =>
      troubled(step).flatMap((metrics) => watchdogs.observe(step, metrics, [0, 10])),
    );
  const config = watchdogConfigSchema.parse({ kl: { action: 'roll-back' }, rewardHacking: { window: 3 } });

  it('go on from the state of any step as if undisturbed', () => {
    const undisturbed = observeAll(new Watchdogs(config), 1, 60);
    expect(new Set(undisturbed.map(({ watchdog }) => watchdog)).size).toBe(8);
    for (let at = 1; at <= 60; at++) {
      const first = new Watchdogs(config);
      const before = observeAll(first, 1, at);
      const saved = JSON.stringify(first.state());
      const second = new Watchdogs(config);
      second.restore(watchdogStateSchema.parse(JSON.parse(saved)));
      expect([...before, ...observeAll(second, at, 60)]).toEqual(undisturbed);
    }
  });

  it('keep a state that is not changed by what they see later', () => {
    const watchdogs = new Watchdogs(config);
    observeAll(watchdogs, 1, 20);
    const state = watchdogs.state();
    const text = JSON.stringify(state);
    observeAll(watchdogs, 20, 40);
    expect(JSON.stringify(state)).toBe(text);
    watchdogs.restore(state);
    observeAll(watchdogs, 20, 40);
    expect(JSON.stringify(state)).toBe(text);
  });

  it('stop a run again that goes on from where they stopped it', () => {
    const setting = { threshold: 1, window: 1, patience: 2, action: 'stop' };
    const first = only('kl', setting);
    expect([1, 2].map((step) => first.observe(step, { kl: 2 }).length)).toEqual([0, 1]);
    const second = only('kl', setting);
    second.restore(first.state());
    expect(second.observe(3, { kl: 2 })).toMatchObject([{ firstBadStep: 1, action: 'stop' }]);
  });

  it('begin anew where the state knows nothing of them', () => {
    const watchdogs = only('kl', { threshold: 1, window: 1, patience: 2 });
    watchdogs.observe(1, { kl: 2 });
    watchdogs.restore({});
    expect(watchdogs.observe(2, { kl: 2 })).toEqual([]);
    expect(watchdogs.observe(3, { kl: 2 })).toHaveLength(1);
  });
});
