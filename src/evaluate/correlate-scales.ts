import type { Numbers } from '../metrics/index.ts';

/** Smallest and largest value. */
export interface Range {
  min: number;
  max: number;
}

export function rangeOf(values: Numbers): Range {
  let [min, max] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < min) min = values[i]!;
    if (values[i]! > max) max = values[i]!;
  }
  return { min, max };
}

/** Ratio of widths above which two columns of scores are hardly on one scale. */
const WIDTH_RATIO = 3;
/** Ratio of widths or largest values above which two data sets are hardly on one scale. */
const PART_RATIO = 2;
/** Parts with fewer rows have no range worth comparing. */
const LEAST_PART = 10;

const width = ({ min, max }: Range): number => max - min;
const reach = ({ min, max }: Range): number => Math.max(Math.abs(min), Math.abs(max));
const ratio = (a: number, b: number): number => Math.max(a, b) / Math.min(a, b);
const show = (value: number): string => String(Number(value.toPrecision(4)));

/** "0.12 to 0.98" */
export const rangeText = ({ min, max }: Range): string => `${show(min)} to ${show(max)}`;

/** Says that scores and targets are evidently on different scales; correlations do not mind, raw errors would. */
export function scalePairNotice(
  prediction: string,
  scores: Range,
  target: string,
  targets: Range,
): string | undefined {
  if (width(scores) === 0 || width(targets) === 0) return undefined;
  const apart = scores.max < targets.min || targets.max < scores.min;
  if (!apart && ratio(width(scores), width(targets)) <= WIDTH_RATIO) return undefined;
  return (
    `"${prediction}" runs from ${rangeText(scores)} and "${target}" from ${rangeText(targets)}: not one scale. ` +
    `SRCC, KRCC and raw PLCC are unaffected; RMSE is on the scale of "${target}", after the fit`
  );
}

/** Says that parts (data sets) of one column are on different scales, so that a figure over all rows mixes them. */
export function scalePartsNotice(
  column: string,
  values: Float64Array,
  parts: readonly string[],
): string | undefined {
  const ranges = new Map<string, Range & { n: number }>();
  for (const [i, part] of parts.entries()) {
    const range = ranges.get(part) ?? { min: Infinity, max: -Infinity, n: 0 };
    range.min = Math.min(range.min, values[i]!);
    range.max = Math.max(range.max, values[i]!);
    range.n++;
    ranges.set(part, range);
  }
  const known = [...ranges].filter(([, range]) => range.n >= LEAST_PART && width(range) > 0);
  if (known.length < 2) return undefined;
  const byReach = known.toSorted(([, a], [, b]) => reach(b) - reach(a) || width(b) - width(a));
  const [[wideName, wide], [narrowName, narrow]] = [byReach[0]!, byReach.at(-1)!];
  if (ratio(reach(wide), reach(narrow)) < PART_RATIO) return undefined;
  return (
    `"${column}" runs from ${rangeText(narrow)} in ${narrowName} (${narrow.n} rows) and from ${rangeText(wide)} in ` +
    `${wideName} (${wide.n} rows): if these are different scales, figures over all rows mix them and only those of each data set count`
  );
}

/** Tops of scales in use: scores in [0, 1], opinions of five grades, of ten. */
const SCALE_TOPS = [1, 5, 10];
const LEAST_SHARE = 0.1;

/**
 * Says that one column looks like two scales laid together: many values up to the top of a known scale, many
 * beyond twice that top, and next to none between. A notice, because a real distribution may have such a hole.
 */
export function scaleMixNotice(column: string, values: Float64Array): string | undefined {
  // Values are counted once: a scale with many references at 0 is no mixture.
  const distinct = new Set(values);
  if (distinct.size < 2 * LEAST_PART) return undefined;
  for (const top of SCALE_TOPS) {
    let [low, next, high] = [0, 0, 0];
    for (const value of distinct) {
      if (value < 0) continue;
      if (value <= top) low++;
      else if (value <= 2 * top) next++;
      else high++;
    }
    const least = LEAST_SHARE * distinct.size;
    if (low < least || high < least || next > low / 5) continue;
    const within = values.filter((value) => value >= 0 && value <= top).length;
    const beyond = values.filter((value) => value > 2 * top).length;
    const between = values.filter((value) => value > top && value <= 2 * top).length;
    return (
      `"${column}" has ${within} values from 0 to ${top} and ${beyond} above ${2 * top}, with ${between} in between: ` +
      'these look like two scales in one column; bring them to one scale, or measure the parts apart with --by'
    );
  }
  return undefined;
}
