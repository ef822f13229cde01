import { Rng } from '../../core/index.ts';
import {
  bootstrapIntervals,
  type Interval,
  type Metric,
  type Proportion,
  proportion,
  resampledSrcc,
  srcc,
} from '../../metrics/index.ts';
import { telling } from '../least-rows.ts';
import type { Description } from './description.ts';
import { countNaming, type NamingByTruth } from './naming-counts.ts';
import { type Reading, readDescription, type Vocabulary } from './reading.ts';

export interface MeasureOptions {
  /** Which words name a distortion, default 'lexicon'. */
  vocabulary?: Vocabulary;
  /** Seed of the bootstrap, default 0. */
  seed?: number | string;
  /** Bootstrap resamples of the correlations, default 1000; 0 for no intervals. */
  resamples?: number;
  /** Coverage of the intervals, default 0.95. */
  level?: number;
}

/** A rank correlation over pictures, with a percentile bootstrap interval where one was asked for. */
export interface RankAgreement {
  n: number;
  srcc: Metric;
  interval: Interval | null;
}

export interface ContradictionSummary {
  /** Texts that state a level other than that of the score (or grade) given with them. */
  anyStep: Proportion;
  /** ... and at least two levels off, which no rounding at a bound explains. */
  twoSteps: Proportion;
  /** Descriptions with a score or grade whose text states no level, or several. */
  withoutLevel: number;
  /** Texts that name a distortion and say that there is none. */
  withItself: Proportion;
}

export interface ConsistencyByRank {
  /** Level stated in the text against the score. */
  levelAndScore: RankAgreement;
  /** Strongest severity named, negated (0 where the text says that there is none), against the score. */
  severityAndScore: RankAgreement;
  /** The same two against the MOS: how much of the quality the text alone carries. */
  levelAndMos: RankAgreement;
  severityAndMos: RankAgreement;
}

/** The judge-free protocol: a text against what is known about its picture and against its own score. */
export interface DescriptionSummary extends NamingByTruth {
  /** All descriptions. */
  n: number;
  /** Answers without a text. With known truth they count as naming nothing. */
  withoutText: number;
  /** Pictures whose distortions are known; of these, how many have some. */
  withTruth: number;
  distorted: number;
  /** Texts that name at least one distortion, over all texts. */
  namesSome: Proportion;
  /** Pristine pictures of which a distortion is claimed. */
  hallucinated: Proportion;
  /** Distorted pictures of which the text says that there is no distortion. */
  denied: Proportion;
  contradictions: ContradictionSummary;
  consistency: ConsistencyByRank;
}

/**
 * Measures descriptions without a judge. Truth by picture: rates are counts of pictures or of named and present
 * distortions, with Wilson intervals, which take those as independent (two distortions of one picture nearly
 * are). One description per picture.
 */
export function measureDescriptions(
  descriptions: readonly Description[],
  { vocabulary = 'lexicon', seed = 0, resamples = 1000, level = 0.95 }: MeasureOptions = {},
): DescriptionSummary {
  const readings = descriptions.map((description) => readDescription(description, vocabulary));
  const withText = readings.filter(({ description }) => description.text !== undefined);
  const known = readings.filter(({ present }) => present !== undefined);
  const distorted = known.filter(({ present }) => (present?.size ?? 0) > 0);
  const pristine = known.filter(({ present }) => present?.size === 0);
  const part = (of: readonly Reading[], holds: (reading: Reading) => boolean, what: string): Proportion =>
    proportion(of.filter(holds).length, of.length, what, level);

  const judged = withText.filter(({ stated, given }) => stated !== undefined && given !== undefined);
  const steps = ({ stated, given }: Reading): number => Math.abs((stated as number) - (given as number));
  const agreement = (name: string, pairs: readonly (readonly [number, number])[]): RankAgreement => {
    const [a, b] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
    const value = telling(srcc(a, b), pairs.length);
    const options = { rng: new Rng(seed).fork('bootstrap', name), resamples, level };
    const interval =
      resamples === 0 || value.status !== 'ok'
        ? null
        : bootstrapIntervals(pairs.length, { srcc: resampledSrcc(a, b) }, options).srcc;
    return { n: pairs.length, srcc: value, interval };
  };

  return {
    n: readings.length,
    withoutText: readings.length - withText.length,
    withTruth: known.length,
    distorted: distorted.length,
    namesSome: part(withText, ({ named }) => named.size > 0, 'text'),
    ...countNaming(known, level),
    hallucinated: part(pristine, ({ named }) => named.size > 0, 'pristine picture'),
    denied: part(distorted, ({ denies }) => denies, 'distorted picture'),
    contradictions: {
      anyStep: part(judged, (reading) => steps(reading) >= 1, 'text with a level beside a score or grade'),
      twoSteps: part(judged, (reading) => steps(reading) >= 2, 'text with a level beside a score or grade'),
      withoutLevel: withText.filter(({ stated, given }) => given !== undefined && stated === undefined)
        .length,
      withItself: part(withText, ({ denies, named }) => denies && named.size > 0, 'text'),
    },
    consistency: {
      levelAndScore: agreement('level-score', paired(withText, levelOf, scoreOf)),
      severityAndScore: agreement('severity-score', paired(withText, severityOf, scoreOf)),
      levelAndMos: agreement('level-mos', paired(withText, levelOf, mosOf)),
      severityAndMos: agreement('severity-mos', paired(withText, severityOf, mosOf)),
    },
  };
}

type ValueOf = (reading: Reading) => number | undefined;

const levelOf: ValueOf = ({ stated }) => stated;
const mosOf: ValueOf = ({ description }) => description.mos;

/** The score, or the middle of the grade where there is no score. */
const scoreOf: ValueOf = ({ description, given }) =>
  description.score ?? (given === undefined ? undefined : 1.4 + 0.8 * given);

/** A name without a severity leaves the strongest one unknown. */
function severityOf({ named, denies }: Reading): number | undefined {
  const levels = [...named.values()];
  // Nothing named and nothing denied may mean that the lexicon lacks the words.
  if (levels.length === 0) return denies ? 0 : undefined;
  return levels.includes(undefined) ? undefined : -Math.max(...(levels as number[]));
}

const paired = (readings: readonly Reading[], first: ValueOf, second: ValueOf): [number, number][] =>
  readings.flatMap((reading) => {
    const [a, b] = [first(reading), second(reading)];
    return a === undefined || b === undefined ? [] : [[a, b] as [number, number]];
  });
