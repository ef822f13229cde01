import { isDeepStrictEqual } from 'node:util';
import { type Cells, cellAt, numberOf } from '../readers/index.ts';
import type { Split } from '../records.ts';
import { type Field, findField } from './fields.ts';
import type { ManifestForm } from './schema.ts';

/** A row of a label file under its place, for messages. */
export interface PlacedRow {
  /** File and row, as in "scores.csv row 3". */
  place: string;
  cells: Cells;
  problem?: string;
  /** Split of the whole file, where it has one. */
  split?: Split;
}

/** What a label file says about one image, on its own scale. */
export interface Label {
  place: string;
  image: string;
  /** Null where nobody has judged the image. */
  value: number | null;
  /** On the scale that the manifest names; a variance has become its root. */
  std: number | null;
  raters: number | null;
  /** Votes for each grade, lowest first, in the file's unit. */
  votes: number[] | null;
  reference: string | null;
  distortion: string | null;
  level: number | null;
  group: string | null;
  split: Split | null;
}

export const PROBLEM_KINDS = [
  'broken row',
  'missing value',
  'not a number',
  'out of range',
  'unknown split',
  'listed twice',
  'no image file',
  'ambiguous image file',
  'image shared by labels',
  'unreadable image',
] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

export interface LabelProblem {
  kind: ProblemKind;
  place: string;
  detail: string;
}

export interface Labels {
  labels: Label[];
  problems: LabelProblem[];
  /** Rows that the manifest leaves out, by why. */
  excluded: { why: string; images: string[] }[];
  /** Rows that say once more what an earlier one said of the same image. */
  repeated: number;
}

/** The scale of a form once the user's own settings are laid over it. */
export interface Scale {
  range: readonly [number, number];
  direction: 'higher' | 'lower';
}

/** Printed numbers are rounded: a score may miss the range by this share of it. */
const ROUNDING = 1e-5;

/** Names of splits as people write them. */
export const SPLIT_NAMES: Readonly<Record<string, 'train' | 'validation' | 'test'>> = {
  train: 'train',
  training: 'train',
  val: 'validation',
  valid: 'validation',
  validation: 'validation',
  test: 'test',
  testing: 'test',
};

/** Reads what a form says about each row. Rows that can't be used become problems, none is guessed at. */
export function labelsOf(rows: readonly PlacedRow[], form: ManifestForm, scale: Scale | null): Labels {
  const labels: Label[] = [];
  const problems: LabelProblem[] = [];
  const excluded = new Map<string, string[]>();
  const sequence = form.imageSequence === undefined ? undefined : sequenceNames(form.imageSequence);
  const names = form.names === undefined ? undefined : new RegExp(form.names, 'i');
  const seen = new Map<string, Label>();
  let repeated = 0;
  for (const [i, row] of rows.entries()) {
    const read = readRow(row, form, scale, names, sequence === undefined ? undefined : (sequence[i] ?? ''));
    if ('kind' in read) problems.push({ ...read, place: row.place });
    else if ('why' in read) {
      const images = excluded.get(read.why);
      if (images === undefined) excluded.set(read.why, [read.image]);
      else images.push(read.image);
    } else {
      // File systems of two of the three common kinds have one file for both spellings.
      const key = read.image.normalize('NFC').toLowerCase();
      const first = seen.get(key);
      if (first === undefined) {
        const label = { ...read, place: row.place };
        seen.set(key, label);
        labels.push(label);
      } else if (form.repeatedRows === 'same' && saysTheSame(first, read)) {
        repeated++;
      } else {
        problems.push({
          kind: 'listed twice',
          place: row.place,
          detail: `image ${read.image} is listed at ${first.place} already (names are compared without case)`,
        });
      }
    }
  }
  return { labels, problems, excluded: [...excluded].map(([why, images]) => ({ why, images })), repeated };
}

const saysTheSame = (label: Label, read: Omit<Label, 'place'>): boolean =>
  isDeepStrictEqual({ ...label, place: '' }, { ...read, place: '' });

function sequenceNames(parts: NonNullable<ManifestForm['imageSequence']>): string[] {
  return parts.flatMap(({ template, count }) =>
    Array.from({ length: count }, (_, i) => findField({ template }, { i: i + 1 }).value ?? ''),
  );
}

type RowResult = Omit<Label, 'place'> | Omit<LabelProblem, 'place'> | { why: string; image: string };

function readRow(
  row: PlacedRow,
  form: ManifestForm,
  scale: Scale | null,
  names: RegExp | undefined,
  sequenceName: string | undefined,
): RowResult {
  if (row.problem !== undefined) return { kind: 'broken row', detail: row.problem };
  const derived = Object.entries(form.derive).map(
    ([name, field]) => [name, findField(field, row.cells)] as const,
  );
  const own: Cells = {
    ...row.cells,
    ...Object.fromEntries(derived.map(([name, { value }]) => [name, value ?? null])),
  };
  const image = sequenceName === undefined ? findField(form.image ?? 'image', own) : { value: sequenceName };
  if (image.value === undefined) {
    const why = derived.find(([, { problem }]) => problem !== undefined)?.[1].problem ?? image.problem;
    return { kind: 'missing value', detail: `no image name: ${why}` };
  }
  if (image.value === '')
    return { kind: 'broken row', detail: 'there are more rows than images in the sequence' };
  const cells: Cells = { ...own, $image: image.value, ...groupsOf(names, image.value) };
  for (const { field, matches, why } of form.exclude) {
    if (new RegExp(matches, 'i').test(findField(field, cells).value ?? ''))
      return { why, image: image.value };
  }
  const result: Omit<Label, 'place'> = {
    image: image.value.replaceAll('\\', '/'),
    value: null,
    std: null,
    raters: null,
    votes: null,
    reference: optional(form.reference, cells),
    distortion: null,
    level: null,
    group: null,
    split: null,
  };
  return (
    readVotes(result, form, cells) ??
    readScore(result, form, cells, scale) ??
    readSpread(result, form, cells) ??
    readOrigin(result, form, cells) ??
    readSplit(result, form, row, cells) ??
    result
  );
}

type Problem = Omit<LabelProblem, 'place'> | undefined;

function groupsOf(names: RegExp | undefined, image: string): Record<string, string> {
  const groups = names === undefined ? undefined : names.exec(image)?.groups;
  return Object.fromEntries(
    Object.entries(groups ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[`$${name}`, value]],
    ),
  );
}

const optional = (field: Field | undefined, cells: Cells): string | null =>
  field === undefined ? null : (findField(field, cells).value ?? null);

function readVotes(result: Omit<Label, 'place'>, { votes }: ManifestForm, cells: Cells): Problem {
  if (votes === undefined) return undefined;
  const read = votes.columns.map((column) => numberOf(cellAt(cells, column)));
  const at = read.findIndex((value) => value === undefined || value < 0);
  if (at >= 0)
    return { kind: 'not a number', detail: `votes in ${votes.columns[at]} are not a number of 0 or more` };
  result.votes = read as number[];
  return undefined;
}

function readScore(
  result: Omit<Label, 'place'>,
  form: ManifestForm,
  cells: Cells,
  scale: Scale | null,
): Problem {
  if (scale === null) return undefined;
  let value: number | undefined;
  if (form.mosFromVotes) {
    const total = result.votes!.reduce((sum, votes) => sum + votes, 0);
    if (total === 0) return { kind: 'missing value', detail: 'it has no votes' };
    const { grades } = form.votes!;
    value = result.votes!.reduce((sum, votes, i) => sum + votes * grades[i]!, 0) / total;
    const variance =
      result.votes!.reduce((sum, votes, i) => sum + votes * (grades[i]! - value!) ** 2, 0) / total;
    result.std = Math.sqrt(variance);
    if (form.votes!.unit === 'counts') result.raters = total;
  } else {
    const found = findField(form.mos!, cells);
    if (found.value === undefined) return { kind: 'missing value', detail: `no score: ${found.problem}` };
    value = numberOf(found.value);
    if (value === undefined) return { kind: 'not a number', detail: `score "${found.value}"` };
  }
  const [low, high] = scale.range;
  const slack = ROUNDING * (high - low);
  if (value < low - slack || value > high + slack) {
    return { kind: 'out of range', detail: `score ${value} lies outside ${low} to ${high}` };
  }
  result.value = value;
  return undefined;
}

function readSpread(result: Omit<Label, 'place'>, form: ManifestForm, cells: Cells): Problem {
  if (form.std !== undefined) {
    const found = findField(form.std.field, cells);
    // Some files have a spread for part of the images only: that is unknown, not wrong.
    if (found.value !== undefined) {
      const value = numberOf(found.value);
      if (value === undefined || value < 0) {
        return {
          kind: 'not a number',
          detail: `${form.std.is} "${found.value}" is not a number of 0 or more`,
        };
      }
      result.std = form.std.is === 'variance' ? Math.sqrt(value) : value;
    }
  }
  if (form.raters !== undefined) {
    const raters = numberOf(optional(form.raters, cells));
    if (raters === undefined || !Number.isInteger(raters) || raters < 1) {
      return { kind: 'not a number', detail: 'the number of raters is not a whole number of 1 or more' };
    }
    result.raters = raters;
  }
  return undefined;
}

function readOrigin(result: Omit<Label, 'place'>, form: ManifestForm, cells: Cells): Problem {
  if (form.reference !== undefined && result.reference === null) {
    return { kind: 'missing value', detail: 'no reference' };
  }
  if (form.distortion !== undefined) {
    const found = findField(form.distortion, cells);
    if (found.value === undefined)
      return { kind: 'missing value', detail: `no distortion: ${found.problem}` };
    result.distortion = found.value;
  }
  if (form.level !== undefined) {
    const level = numberOf(optional(form.level, cells));
    if (level === undefined) return { kind: 'not a number', detail: 'the distortion level is not a number' };
    result.level = level;
  }
  const group = form.group === undefined ? result.reference : optional(form.group, cells);
  if (form.group !== undefined && group === null) return { kind: 'missing value', detail: 'no group' };
  result.group = group?.toLowerCase() ?? null;
  return undefined;
}

function readSplit(result: Omit<Label, 'place'>, form: ManifestForm, row: PlacedRow, cells: Cells): Problem {
  result.split = row.split ?? null;
  if (form.split === undefined) return undefined;
  const found = findField(form.split, cells).value ?? '';
  const split = form.splitNames[found] ?? SPLIT_NAMES[found.toLowerCase()];
  if (split === undefined) {
    const known = [...Object.keys(form.splitNames), ...Object.keys(SPLIT_NAMES)];
    return { kind: 'unknown split', detail: `split "${found}" is none of ${known.join(', ')}` };
  }
  result.split = split;
  return undefined;
}
