import { join } from 'node:path';
import { z } from 'zod';
import { readAllJsonl } from '../../src/core/index.ts';

const rowSchema = z.record(z.string(), z.number().nullable());
export type Row = z.infer<typeof rowSchema>;

export interface RunOutcome {
  variant: string;
  condition: string;
  seed: number;
  /** Rows of the steps, in order. */
  steps: Row[];
  /** Means over the first five steps and the last ten. */
  reward: { first: number; last: number };
  entropy: { first: number; last: number };
  gradientNorm: { first: number; last: number };
  format: number;
  srcc: { first: number | null; last: number | null };
  collapsed: boolean;
}

/** A run has collapsed if its reward ends below where it began, or its entropy below a tenth of what it was. */
export function hasCollapsed({ reward, entropy }: Pick<RunOutcome, 'reward' | 'entropy'>): boolean {
  return reward.last < reward.first || entropy.last < entropy.first / 10;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export async function outcomeOf(
  run: string,
  { variant, condition, seed }: Pick<RunOutcome, 'variant' | 'condition' | 'seed'>,
): Promise<RunOutcome> {
  const rows = await readAllJsonl(join(run, 'metrics.jsonl'), rowSchema);
  const steps = rows.filter((row) => 'samples/trained' in row);
  const validations = rows.filter((row) => 'validation/scored' in row);
  const ends = (name: string): { first: number; last: number } => {
    const values = steps.flatMap((row) => row[name] ?? []);
    return { first: mean(values.slice(0, 5)), last: mean(values.slice(-10)) };
  };
  const reward = ends('reward/mean');
  const entropy = ends('entropy');
  return {
    variant,
    condition,
    seed,
    steps,
    reward,
    entropy,
    gradientNorm: ends('gradientNorm'),
    format: ends('reward/format/mean').last,
    srcc: {
      first: validations[0]?.['validation/srcc'] ?? null,
      last: validations.at(-1)?.['validation/srcc'] ?? null,
    },
    collapsed: hasCollapsed({ reward, entropy }),
  };
}

/** One row per variant and condition: mean over the seeds, and the range. */
export function markdownTable(outcomes: readonly RunOutcome[]): string {
  const keys = [...new Set(outcomes.map(({ condition, variant }) => JSON.stringify([condition, variant])))];
  const rows = keys.map((key) => {
    const [condition, variant] = JSON.parse(key) as [string, string];
    const own = outcomes.filter((one) => one.condition === condition && one.variant === variant);
    const range = (of: (outcome: RunOutcome) => number, digits: number): string => {
      const values = own.map(of);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return `${mean(values).toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
    };
    const srcc = own.flatMap((one) => one.srcc.last ?? []);
    return [
      condition,
      variant,
      range(({ reward }) => reward.last, 3),
      range(({ entropy }) => entropy.last, 3),
      range(({ gradientNorm }) => gradientNorm.last, 2),
      range(({ format }) => format, 3),
      srcc.length === 0 ? 'none' : mean(srcc).toFixed(3),
      `${own.filter(({ collapsed }) => collapsed).length} of ${own.length}`,
    ];
  });
  const head = ['condition', 'variant', 'reward', 'entropy', 'gradient norm', 'format', 'SRCC', 'collapsed'];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
