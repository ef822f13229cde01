import { InputError, Rng, worstScore } from '../core/index.ts';
import {
  bootstrapIntervals,
  type Interval,
  type Metric,
  mae,
  metricValue,
  plcc,
  type ResampledStatistic,
  resampledDifference,
  resampledMae,
  resampledPlcc,
  resampledRmse,
  resampledSrcc,
  rmse,
  srcc,
} from '../metrics/index.ts';
import { byImageId, type Prediction } from './predictions.ts';
import type { SummaryOptions } from './summarize.ts';

export interface CompareOptions extends SummaryOptions {
  /**
   * What to do with an image whose score is missing on either side in any seed: leave it out of both sides
   * (default), or read each missing score as the far end of the scale.
   */
  failures?: 'dropped' | 'worst';
}

export interface SeedDifference {
  /** Null where predictions carry no seed. */
  seed: number | null;
  baseline: Metric;
  candidate: Metric;
}

export interface Difference {
  /** Means over seeds. */
  baseline: Metric;
  candidate: Metric;
  /** Candidate minus baseline. */
  difference: Metric;
  /**
   * Percentile interval of the difference. Images are resampled, the same ones on both sides and in all seeds;
   * the seeds themselves are not resampled, so it covers the choice of images, not of seeds.
   */
  interval: Interval;
  perSeed: SeedDifference[];
}

export interface Comparison {
  /** Images compared: with a score on both sides in every seed (or read as worst). */
  images: number;
  seeds: (number | null)[];
  /** Images present everywhere but left out because a score is missing somewhere. */
  dropped: number;
  /** Image ids absent from at least one side or seed. */
  unmatched: number;
  srcc: Difference;
  plcc: Difference;
  rmse: Difference;
  mae: Difference;
}

/** Paired comparison of two models on the same images, pooled over the seeds that both have. */
export function compare(
  baseline: readonly Prediction[],
  candidate: readonly Prediction[],
  options: CompareOptions = {},
): Comparison {
  const { failures = 'dropped', seed = 0, ...bootstrap } = options;
  const sides = { baseline: bySeed(baseline), candidate: bySeed(candidate) };
  const seeds = [...sides.baseline.keys()].filter((key) => sides.candidate.has(key));
  if (seeds.length === 0) {
    const list = (side: Map<number | null, unknown>) =>
      [...side.keys()].map((key) => key ?? 'none').join(', ');
    throw new InputError(
      `the two sides share no seed: baseline has ${list(sides.baseline) || 'no rows'}, candidate has ${list(sides.candidate) || 'no rows'}`,
      { hint: 'compare predictions made with the same seeds' },
    );
  }
  const tables = seeds.flatMap((key) => [sides.baseline.get(key)!, sides.candidate.get(key)!]);
  const { ids, dropped, unmatched } = comparableIds(tables, failures);
  const mos = Float64Array.from(ids, (id) => tables[0]!.get(id)!.mos);
  const column = (table: Map<string, Prediction>) =>
    Float64Array.from(ids, (id) => table.get(id)!.score ?? worstScore(table.get(id)!.mos));
  const pairs = seeds.map((key) => ({
    seed: key,
    baseline: column(sides.baseline.get(key)!),
    candidate: column(sides.candidate.get(key)!),
  }));

  const pooled = (resampled: typeof resampledSrcc): ResampledStatistic =>
    meanOf(
      pairs.map((pair) => resampledDifference(resampled(pair.baseline, mos), resampled(pair.candidate, mos))),
    );
  const intervals = bootstrapIntervals(
    ids.length,
    {
      srcc: pooled(resampledSrcc),
      plcc: pooled(resampledPlcc),
      rmse: pooled(resampledRmse),
      mae: pooled(resampledMae),
    },
    { ...bootstrap, rng: new Rng(seed).fork('bootstrap', 'compare') },
  );
  const difference = (metric: typeof srcc, interval: Interval): Difference => {
    const perSeed = pairs.map((pair) => ({
      seed: pair.seed,
      baseline: metric(pair.baseline, mos),
      candidate: metric(pair.candidate, mos),
    }));
    const from = meanMetric(perSeed.map((row) => row.baseline));
    const to = meanMetric(perSeed.map((row) => row.candidate));
    const gap = from.status !== 'ok' ? from : to.status !== 'ok' ? to : metricValue(to.value - from.value);
    return {
      baseline: from,
      candidate: to,
      difference: gap,
      interval: gap.status === 'ok' ? interval : gap,
      perSeed,
    };
  };
  return {
    images: ids.length,
    seeds,
    dropped,
    unmatched,
    srcc: difference(srcc, intervals.srcc),
    plcc: difference(plcc, intervals.plcc),
    rmse: difference(rmse, intervals.rmse),
    mae: difference(mae, intervals.mae),
  };
}

function bySeed(predictions: readonly Prediction[]): Map<number | null, Map<string, Prediction>> {
  const groups = new Map<number | null, Prediction[]>();
  for (const prediction of predictions) {
    const seed = prediction.seed ?? null;
    const group = groups.get(seed);
    if (group === undefined) groups.set(seed, [prediction]);
    else group.push(prediction);
  }
  return new Map([...groups].map(([seed, group]) => [seed, byImageId(group)]));
}

function comparableIds(
  tables: readonly Map<string, Prediction>[],
  failures: 'dropped' | 'worst',
): { ids: string[]; dropped: number; unmatched: number } {
  const all = new Set(tables.flatMap((table) => [...table.keys()]));
  const shared = [...all].filter((id) => tables.every((table) => table.has(id)));
  if (shared.length === 0) {
    throw new InputError('the predictions have no image in common', {
      hint: 'compare predictions of one split, made from the same data set',
    });
  }
  for (const id of shared) {
    const targets = new Set(tables.map((table) => table.get(id)!.mos));
    if (targets.size > 1) {
      throw new InputError(`image ${id} has different MOS on the two sides: ${[...targets].join(', ')}`, {
        hint: 'both sides must be measured against one data set on one scale',
      });
    }
  }
  const ids =
    failures === 'worst'
      ? shared
      : shared.filter((id) => tables.every((table) => table.get(id)!.score !== null));
  return { ids, dropped: shared.length - ids.length, unmatched: all.size - shared.length };
}

function meanOf(statistics: readonly ResampledStatistic[]): ResampledStatistic {
  return (weights) => {
    let sum = 0;
    for (const statistic of statistics) {
      const value = statistic(weights);
      if (value === undefined) return undefined;
      sum += value;
    }
    return sum / statistics.length;
  };
}

function meanMetric(metrics: readonly Metric[]): Metric {
  let sum = 0;
  for (const metric of metrics) {
    if (metric.status !== 'ok') return metric;
    sum += metric.value;
  }
  return metricValue(sum / metrics.length);
}
