import { levelOfScore, Rng, worstScore } from '../core/index.ts';
import {
  bootstrapIntervals,
  fitLogistic,
  type Interval,
  krcc,
  type LogisticFit,
  type Metric,
  mae,
  metricValue,
  plcc,
  type ResampledStatistic,
  resampledKrcc,
  resampledMae,
  resampledPlcc,
  resampledRmse,
  resampledSrcc,
  rmse,
  srcc,
  type UndefinedBecause,
  undefinedBecause,
} from '../metrics/index.ts';
import { telling } from './least-rows.ts';
import { type NamingSummary, type Share, share, summarizeNaming } from './naming.ts';
import { byImageId, type Prediction, SCORE_RANGE } from './predictions.ts';
import { type AccuracySummary, summarizeAccuracy } from './summarize-accuracy.ts';

export interface SummaryOptions {
  /** Seed of the bootstrap, default 0. */
  seed?: number | string;
  /** Bootstrap resamples, default 1000. */
  resamples?: number;
  /** Coverage of the intervals in (0, 1), default 0.95. */
  level?: number;
}

/** A value with its percentile bootstrap interval over images. */
export interface Estimate {
  value: Metric;
  interval: Interval;
}

export interface FailureSummary {
  /** Answers without a score. */
  missing: Share;
  /** How many rows have each parser status, "ok" included. */
  byStatus: Record<string, number>;
  /** SRCC over the rows that have a score. */
  srccDropped: Metric;
  /**
   * SRCC when every missing score is read as the end of the scale farther from the MOS. Undefined where fewer
   * than half of the answers have a score: it would then rank the stand-ins, which follow from the MOS alone.
   */
  srccWorst: Metric;
}

export interface ConsistencySummary {
  /** Rows that state one level and hold a score in [1, 5], whose level is that of the score. */
  agreeing: Share;
  /** Rows with a score whose reasoning states no level, or several, or that have none. */
  withoutLevel: number;
  /** Standard deviation of the scores: a constant answer can be perfectly consistent. */
  scoreStd: Metric;
}

export interface DistortionRow {
  /** The main true distortion, "none" for pristine pictures. */
  type: string;
  n: number;
  srcc: Metric;
  plcc: Metric;
  rmse: Metric;
  /** Mean of score minus MOS. */
  bias: Metric;
  firstNamed: Share;
}

export interface Summary {
  /** All predictions; the correlations and errors are over those with a score. */
  n: number;
  scored: number;
  srcc: Estimate;
  /** Of raw scores. */
  plcc: Estimate;
  /** After the four-parameter logistic fitted on all these rows; its interval holds the mapping fixed. */
  plccLogistic4: Estimate;
  logistic4: Omit<LogisticFit, 'fitted'> | UndefinedBecause;
  krcc: Estimate;
  /** Of raw scores, on the scale 1 to 5. */
  rmse: Estimate;
  mae: Estimate;
  accuracy: AccuracySummary;
  /** Of the predictions that have a text, those that keep the output contract. */
  format: Share;
  /** Texts cut at the length limit. */
  truncated: Share;
  failures: FailureSummary;
  consistency: ConsistencySummary;
  naming: NamingSummary;
  byDistortion: DistortionRow[];
}

/** Everything measured about one model on one split. One prediction per image. */
export function summarize(predictions: readonly Prediction[], options: SummaryOptions = {}): Summary {
  byImageId(predictions);
  const written = predictions.filter(isWritten);
  const scored = predictions.filter((p): p is ScoredPrediction => p.score !== null);
  const scores = Float64Array.from(scored, (p) => p.score);
  const targets = Float64Array.from(scored, (p) => p.mos);
  const fit = fitLogistic(scores, targets, 'logistic4');
  const values = {
    srcc: telling(srcc(scores, targets), scored.length),
    plcc: telling(plcc(scores, targets), scored.length),
    plccLogistic4: fit.status === 'ok' ? metricValue(fit.plcc) : fit,
    krcc: telling(krcc(scores, targets), scored.length),
    rmse: rmse(scores, targets),
    mae: mae(scores, targets),
  };
  const statistics: Record<keyof typeof values, ResampledStatistic> = {
    srcc: resampledSrcc(scores, targets),
    plcc: resampledPlcc(scores, targets),
    plccLogistic4: fit.status === 'ok' ? resampledPlcc(fit.fitted, targets) : () => undefined,
    krcc: resampledKrcc(scores, targets),
    rmse: resampledRmse(scores, targets),
    mae: resampledMae(scores, targets),
  };
  const { seed = 0, ...bootstrap } = options;
  const rng = new Rng(seed).fork('bootstrap', 'summary');
  const intervals = bootstrapIntervals(scores.length, statistics, { ...bootstrap, rng });
  const estimate = (name: keyof typeof values): Estimate => {
    const value = values[name];
    return { value, interval: value.status === 'ok' ? intervals[name] : value };
  };
  return {
    n: predictions.length,
    scored: scored.length,
    srcc: estimate('srcc'),
    plcc: estimate('plcc'),
    plccLogistic4: estimate('plccLogistic4'),
    logistic4: withoutFitted(fit),
    krcc: estimate('krcc'),
    rmse: estimate('rmse'),
    mae: estimate('mae'),
    accuracy: summarizeAccuracy(predictions),
    format: share(written.filter((p) => p.wellFormed).length, written.length, 'prediction with a text'),
    truncated: share(
      written.filter((p) => p.finishReason === 'length').length,
      written.length,
      'prediction with a text',
    ),
    failures: summarizeFailures(predictions, values.srcc),
    consistency: summarizeConsistency(scored),
    naming: summarizeNaming(written),
    byDistortion: summarizeByDistortion(predictions),
  };
}

/**
 * Baselines and readings without generation give a score and no text: nothing can be said about format and naming.
 * An empty answer, which has no score either, counts as the failure it is.
 */
const isWritten = ({ text, score }: Prediction): boolean => text !== '' || score === null;

type ScoredPrediction = Prediction & { score: number };

function withoutFitted(fit: LogisticFit | UndefinedBecause): Summary['logistic4'] {
  if (fit.status !== 'ok') return fit;
  const { fitted: _, ...rest } = fit;
  return rest;
}

function summarizeFailures(predictions: readonly Prediction[], srccDropped: Metric): FailureSummary {
  const byStatus: Record<string, number> = {};
  for (const { status } of predictions) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const missing = predictions.filter((p) => p.score === null).length;
  return {
    missing: share(missing, predictions.length, 'prediction'),
    byStatus,
    srccDropped,
    srccWorst: srccWithWorst(predictions, predictions.length - missing),
  };
}

const LEAST_COVERAGE = 0.5;

function srccWithWorst(predictions: readonly Prediction[], scored: number): Metric {
  if (scored < LEAST_COVERAGE * predictions.length || scored === 0) {
    return undefinedBecause(
      'too-few',
      `${scored} of ${predictions.length} answers have a score, at least half needed`,
    );
  }
  const value = srcc(
    predictions.map((p) => p.score ?? worstScore(p.mos)),
    predictions.map((p) => p.mos),
  );
  return telling(value, predictions.length);
}

function summarizeConsistency(scored: readonly ScoredPrediction[]): ConsistencySummary {
  const judged = scored.filter((p) => p.levelStated !== undefined);
  // A score outside the scale has no level, so it can't agree with one.
  const agreeing = judged.filter((p) => inRange(p.score) && levelOfScore(p.score) === p.levelStated);
  return {
    agreeing: share(agreeing.length, judged.length, 'prediction with a stated level and a score'),
    withoutLevel: scored.length - judged.length,
    scoreStd: standardDeviation(scored.map((p) => p.score)),
  };
}

const inRange = (score: number): boolean => score >= SCORE_RANGE.lowest && score <= SCORE_RANGE.highest;

function standardDeviation(values: readonly number[]): Metric {
  const n = values.length;
  if (n < 2) return undefinedBecause('too-few', `${n} score(s), at least 2 needed`);
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  return metricValue(Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)));
}

function summarizeByDistortion(predictions: readonly Prediction[]): DistortionRow[] {
  const groups = new Map<string, Prediction[]>();
  for (const prediction of predictions) {
    if (prediction.distortionsTrue === undefined) continue;
    const type = prediction.distortionsTrue[0]?.type ?? 'none';
    groups.set(type, [...(groups.get(type) ?? []), prediction]);
  }
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([type, group]) => {
      const scored = group.filter((p): p is ScoredPrediction => p.score !== null);
      const scores = scored.map((p) => p.score);
      const targets = scored.map((p) => p.mos);
      const sum = scored.reduce((total, p) => total + p.score - p.mos, 0);
      return {
        type,
        n: group.length,
        srcc: telling(srcc(scores, targets), scored.length),
        plcc: telling(plcc(scores, targets), scored.length),
        rmse: rmse(scores, targets),
        bias:
          scored.length === 0
            ? undefinedBecause('too-few', 'no prediction has a score')
            : metricValue(sum / scored.length),
        firstNamed: summarizeNaming(group.filter(isWritten)).firstNamed,
      };
    });
}
