import type { Memory } from './state.ts';

/** Metrics of a step by name. One that is absent, null or not finite has no value: it is never read as 0. */
export type StepMetrics = Readonly<Record<string, number | null | undefined>>;

export interface Judgement {
  value: number;
  threshold: number;
  bad: boolean;
  /** What was measured and what is allowed, for example "entropy is 0.01 ..., allowed is at least 0.02". */
  finding: string;
  metrics: string[];
}

/** Decides whether a step is bad from its metrics and a memory of the steps before, which it updates. */
export type Judge = (metrics: StepMetrics, memory: Memory) => Judgement | null;

export const finiteOf = (metrics: StepMetrics, name: string): number | null => {
  const value = metrics[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** Appends to a series and keeps its last `window` values, which are returned. */
export function remember(memory: Memory, name: string, value: number, window: number): number[] {
  const values = [...(memory.series[name] ?? []), value].slice(-window);
  memory.series[name] = values;
  return values;
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Four digits: enough to compare, few enough to read. */
export const short = (value: number): string => String(Number(value.toPrecision(4)));
