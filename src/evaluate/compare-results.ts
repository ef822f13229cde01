import { InputError, listNames, Rng } from '../core/index.ts';
import { type Comparison, compare } from './compare.ts';
import { type BehaviourChange, behaviourChanges } from './compare-behaviour.ts';
import { type ScoreChanges, scoreChanges } from './compare-images.ts';
import { type PairRow, pairRow } from './correlate-pairs.ts';
import { rangeOf, rangeText } from './correlate-scales.ts';
import { byImageId, type Prediction, SCORE_RANGE } from './predictions.ts';
import type { Result } from './read-predictions.ts';
import type { RunProvenance } from './read-predictions-provenance.ts';

export interface IntervalOptions {
  /** Bootstrap resamples. */
  resamples: number;
  /** Coverage of the intervals in (0, 1). */
  level: number;
  seed: number;
}

export interface CompareResultsOptions extends Partial<IntervalOptions> {
  /** How many of the most changed images to list, default 10. */
  most?: number;
}

/** The two answers about one image. */
export interface PredictionPair {
  baseline: Prediction;
  candidate: Prediction;
}

/** Change on the images of one kind. */
export interface GroupChange {
  /** Main true distortion, "none" for pristine pictures. */
  group: string;
  comparison: Comparison;
  tests: PairRow;
}

export interface ComparedSide {
  path: string;
  n: number;
  scored: number;
  run: RunProvenance | null;
}

export interface SplitChange {
  split: string;
  baseline: ComparedSide;
  candidate: ComparedSide;
  /** SRCC, PLCC, RMSE and MAE on the images that both scored, with paired bootstrap intervals. */
  comparison: Comparison;
  /** Steiger's, Williams' and VQEG's tests on the same images, the last after the four-parameter logistic. */
  tests: PairRow;
  /** Empty where no distortions are known. */
  byDistortion: GroupChange[];
  behaviour: BehaviourChange[];
  scores: ScoreChanges;
  /** Images that one side alone has. */
  alone: { baseline: string[]; candidate: string[] };
  /** What a reader must know before the figures. */
  notices: string[];
}

/** What changed from one run to another, split by split. */
export interface ResultsComparison {
  baseline: string;
  candidate: string;
  intervals: IntervalOptions;
  splits: SplitChange[];
  /** Parts that one side has and the other has not. */
  unmatched: { baseline: string[]; candidate: string[] };
}

/** Pairs the parts of two runs by name and measures the change of each on the images both have. */
export function compareResults(
  baseline: { name: string; results: readonly Result[] },
  candidate: { name: string; results: readonly Result[] },
  options: CompareResultsOptions = {},
): ResultsComparison {
  const { resamples = 1000, level = 0.95, seed = 0, most = 10 } = options;
  const intervals = { resamples, level, seed };
  const pairs = matchParts(baseline.results, candidate.results);
  if (pairs.length === 0) {
    const parts = (results: readonly Result[]): string => listNames(results.map(({ part }) => part));
    throw new InputError(
      `${baseline.name} and ${candidate.name} have no part in common: ${parts(baseline.results)} against ${parts(candidate.results)}`,
      { hint: 'evaluate both on the same split with the same mode, or name two predictions.jsonl' },
    );
  }
  const without = (all: readonly Result[], side: 0 | 1): string[] =>
    all.filter((one) => !pairs.some((pair) => pair[side] === one)).map(({ part }) => part);
  return {
    baseline: baseline.name,
    candidate: candidate.name,
    intervals,
    splits: pairs.map(([a, b]) => compareSplit(a, b, intervals, most)),
    unmatched: { baseline: without(baseline.results, 0), candidate: without(candidate.results, 1) },
  };
}

/** One part on each side is a pair whatever its name; several are paired by name. */
function matchParts(a: readonly Result[], b: readonly Result[]): [Result, Result][] {
  if (a.length === 1 && b.length === 1) return [[a[0]!, b[0]!]];
  return a.flatMap((one): [Result, Result][] => {
    const other = b.find(({ part }) => part === one.part);
    return other === undefined ? [] : [[one, other]];
  });
}

function compareSplit(a: Result, b: Result, intervals: IntervalOptions, most: number): SplitChange {
  const pairs = pairImages(a.predictions, b.predictions);
  const groups = new Map<string, PredictionPair[]>();
  for (const pair of pairs) {
    const truth = pair.candidate.distortionsTrue ?? pair.baseline.distortionsTrue;
    if (truth === undefined) continue;
    const group = truth[0]?.type ?? 'none';
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [pair]);
    else members.push(pair);
  }
  return {
    split: a.part || a.run?.split || a.predictions[0]!.split,
    baseline: sideOf(a),
    candidate: sideOf(b),
    ...changeOf(a.predictions, b.predictions, pairs, intervals),
    byDistortion: [...groups]
      .sort(([one], [other]) => one.localeCompare(other, 'en'))
      .map(([group, members]) => ({
        group,
        ...changeOf(
          members.map((pair) => pair.baseline),
          members.map((pair) => pair.candidate),
          members,
          intervals,
        ),
      })),
    behaviour: behaviourChanges(pairs, intervals),
    scores: scoreChanges(pairs, most),
    alone: { baseline: idsWithout(a, b), candidate: idsWithout(b, a) },
    notices: [...new Set([...a.notices, ...b.notices]), ...protocolNotices(a, b), ...scaleNotices(pairs)],
  };
}

/** The images of both sides, in the order of the baseline. */
function pairImages(a: readonly Prediction[], b: readonly Prediction[]): PredictionPair[] {
  const candidates = byImageId(b);
  return a.flatMap((baseline) => {
    const candidate = candidates.get(baseline.id);
    return candidate === undefined ? [] : [{ baseline, candidate }];
  });
}

function idsWithout(one: Result, other: Result): string[] {
  const known = new Set(other.predictions.map(({ id }) => id));
  return one.predictions.flatMap(({ id }) => (known.has(id) ? [] : [id]));
}

/** Scores are on the scale 1 to 5; RMSE, MAE and bias say nothing for MOS on another. */
function scaleNotices(pairs: readonly PredictionPair[]): string[] {
  const range = rangeOf(pairs.map(({ baseline }) => baseline.mos));
  return range.min >= SCORE_RANGE.lowest && range.max <= SCORE_RANGE.highest
    ? []
    : [`MOS run from ${rangeText(range)}, scores from 1 to 5: not one scale, RMSE and MAE say nothing`];
}

const sideOf = ({ path, predictions, run }: Result): ComparedSide => ({
  path,
  n: predictions.length,
  scored: predictions.filter(({ score }) => score !== null).length,
  run,
});

function changeOf(
  a: readonly Prediction[],
  b: readonly Prediction[],
  pairs: readonly PredictionPair[],
  { resamples, level, seed }: IntervalOptions,
): Pick<SplitChange, 'comparison' | 'tests'> {
  const scored = pairs.filter(
    ({ baseline, candidate }) => baseline.score !== null && candidate.score !== null,
  );
  const column = (read: (pair: PredictionPair) => number | null): Float64Array =>
    Float64Array.from(scored, (pair) => read(pair)!);
  return {
    // Two runs are compared image by image, whatever seeds they were made with.
    comparison: compare(a.map(withoutSeed), b.map(withoutSeed), { resamples, level, seed }),
    tests: pairRow(
      null,
      column((pair) => pair.baseline.score),
      column((pair) => pair.candidate.score),
      column((pair) => pair.candidate.mos),
      { direction: 1, fit: 'logistic4', resamples: 0, level, rng: new Rng(seed) },
    ),
  };
}

const withoutSeed = ({ seed: _, ...prediction }: Prediction): Prediction => prediction;

/** Differences of protocol: then the change is not of the model alone. */
function protocolNotices(a: Result, b: Result): string[] {
  if (a.run === null || b.run === null) return [];
  const [before, after] = [a.run, b.run];
  const keys = ['split', 'dataHash', 'promptHash', 'sampling', 'codeVersion'] as const;
  const names = {
    split: 'split',
    dataHash: 'data',
    promptHash: 'prompt',
    sampling: 'sampling',
    codeVersion: 'code',
  };
  const differing = keys.flatMap((key) =>
    before[key] === after[key]
      ? []
      : [`${names[key]} (${before[key] ?? 'unknown'}, ${after[key] ?? 'unknown'})`],
  );
  const same =
    before.checkpointHash !== null && before.checkpointHash === after.checkpointHash
      ? [`both sides are the same checkpoint, SHA-256 ${before.checkpointHash}`]
      : [];
  return [
    ...(differing.length === 0
      ? []
      : [`the two sides differ in more than the model: ${differing.join(', ')}`]),
    ...same,
  ];
}
