import { InputError, listNames, Rng } from '../core/index.ts';
import type { LogisticModel } from '../metrics/index.ts';
import { repeatedImageNotices } from './correlate-guards.ts';
import { type PairedColumns, readPairs, type Unmatched } from './correlate-input.ts';
import { type MeanRow, meanRows } from './correlate-means.ts';
import type { CorrelateOptions } from './correlate-options.ts';
import { type PairRow, pairRow } from './correlate-pairs.ts';
import { hashOfIds, runProvenance } from './correlate-provenance.ts';
import { type CorrelationRow, correlationRow, type RowOptions } from './correlate-row.ts';
import { rangeOf, scaleMixNotice, scalePairNotice, scalePartsNotice } from './correlate-scales.ts';
import { LEAST_ROWS } from './least-rows.ts';
import type { RunProvenance } from './read-predictions-provenance.ts';
import { type SkippedRow, skippedSentences, type Table } from './tables/index.ts';

export interface MeasuredFile {
  path: string;
  format: Table['format'];
  /** SHA-256 of the file's bytes, hexadecimal. */
  sha256: string;
  rows: number;
}

/** All measurements of one prediction column. */
export interface PredictionResult {
  prediction: string;
  overall: CorrelationRow;
  groups: CorrelationRow[];
  /** Means over data sets; empty unless grouped by data set. */
  means: MeanRow[];
}

/** Two prediction columns, `a` the baseline: all rows first, then each group. */
export interface ColumnPair {
  a: string;
  b: string;
  rows: PairRow[];
}

export interface CorrelateReport {
  files: MeasuredFile[];
  labels: MeasuredFile | null;
  target: string;
  by: string | null;
  direction: CorrelationRow['direction'];
  fit: LogisticModel | 'none';
  /** Bootstrap: resamples (0 for none), coverage and seed. */
  intervals: { resamples: number; level: number; seed: number | string };
  /** Rows read, before any was left out. */
  rows: number;
  skipped: SkippedRow[];
  unmatched: Unmatched | null;
  /** SHA-256 of the sorted ids of the images measured; null where no column identifies them. */
  imagesSha256: string | null;
  codeVersion: string | null;
  /** How the predictions were made, where they are our own. */
  runs: RunProvenance[];
  results: PredictionResult[];
  /** Each pair of prediction columns, on the same rows. */
  pairs: ColumnPair[];
  /** Sentences for people: rows left out, images without a partner, scales that differ. */
  notices: string[];
}

/** SRCC, PLCC (raw and mapped) and KRCC of columns of tables, with all that a reader needs to compare them. */
export async function correlateFiles(options: CorrelateOptions): Promise<CorrelateReport> {
  const { by, lowerBetter = false, fit = 'logistic4', resamples = 1000, level = 0.95, seed = 0 } = options;
  const columns = await readPairs(options);
  refuseTinyGroups(by ?? undefined, columns.groups);
  const { runs, notices } = await runProvenance(columns.tables);
  const direction = lowerBetter ? -1 : 1;
  const rng = new Rng(seed).fork('bootstrap', 'correlate');
  const parts: [string | null, readonly number[] | null][] = [[null, null], ...rowsByGroup(columns.groups)];
  const optionsOf = (group: string | null, ...names: string[]): RowOptions => ({
    ...{ direction, fit, resamples, level },
    rng: rng.fork(...names, group ?? ''),
  });
  const column = (i: number, rows: readonly number[] | null): Float64Array =>
    pick(columns.predictions[i]!, rows);

  const results = options.predictions.map((prediction, i): PredictionResult => {
    const [overall, ...groups] = parts.map(([group, rows]) =>
      correlationRow(group, column(i, rows), pick(columns.targets, rows), optionsOf(group)),
    );
    return { prediction, overall: overall!, groups, means: by === 'dataset' ? meanRows(groups) : [] };
  });
  const pairs = pairsOf(options.predictions).map(
    ([i, j]): ColumnPair => ({
      a: options.predictions[i]!,
      b: options.predictions[j]!,
      rows: parts.map(([group, rows]) =>
        pairRow(
          group,
          column(i, rows),
          column(j, rows),
          pick(columns.targets, rows),
          optionsOf(group, 'pair'),
        ),
      ),
    }),
  );
  return {
    files: columns.tables.map(measuredFile),
    labels: columns.labels === null ? null : measuredFile(columns.labels),
    target: options.target,
    by: by ?? null,
    direction: lowerBetter ? 'lower-better' : 'higher-better',
    fit,
    intervals: { resamples, level, seed },
    rows: columns.rows,
    skipped: columns.skipped,
    unmatched: columns.unmatched,
    imagesSha256: columns.ids === null ? null : hashOfIds(columns.ids),
    codeVersion: options.codeVersion ?? null,
    runs,
    results,
    pairs,
    notices: [
      ...skippedSentences(columns.skipped),
      ...unmatchedSentences(columns),
      ...repeatedImageNotices(columns.tables, columns.idColumn ?? undefined),
      ...falling(results),
      ...shadowedTarget(options.target, columns),
      ...scaleNotices(options, columns),
      ...notices,
    ],
  };
}

const measuredFile = ({ path, format, sha256, places, broken }: Table): MeasuredFile => ({
  path,
  format,
  sha256,
  rows: places.length + broken.length,
});

/** A column that names every image, or a number, splits nothing. */
function refuseTinyGroups(by: string | undefined, groups: readonly string[] | null): void {
  if (by === undefined || groups === null) return;
  const sizes = [...rowsByGroup(groups)].map(([name, rows]) => [name, rows.length] as const);
  const largest = Math.max(...sizes.map(([, size]) => size));
  if (largest >= LEAST_ROWS) return;
  throw new InputError(
    `"${by}" splits ${groups.length} rows into ${sizes.length} groups of at most ${largest} row(s), at least ${LEAST_ROWS} are needed to measure one: ${listNames(sizes.map(([name]) => name))}`,
    { hint: 'group by a column with few values, such as the distortion or the data set' },
  );
}

/** Scores that clearly run against the stated direction: the most common slip with DMOS and with error-like scores. */
function falling(results: readonly PredictionResult[]): string[] {
  return results.flatMap(({ prediction, overall: { srccInterval, direction } }) => {
    if (srccInterval?.status !== 'ok' || srccInterval.high >= 0) return [];
    const mend =
      direction === 'higher-better'
        ? 'if the subjective scores are DMOS, give --lower-better'
        : 'if the subjective scores are MOS, leave out --lower-better';
    return [`"${prediction}" runs against the stated direction (${direction}): ${mend}`];
  });
}

/** Row numbers of each group, in the order of first appearance. */
function rowsByGroup(groups: readonly string[] | null): Map<string, number[]> {
  const rows = new Map<string, number[]>();
  for (const [row, group] of (groups ?? []).entries()) {
    const members = rows.get(group);
    if (members === undefined) rows.set(group, [row]);
    else members.push(row);
  }
  return rows;
}

const pairsOf = (names: readonly string[]): [number, number][] =>
  names.flatMap((_, i) => names.slice(i + 1).map((_, k): [number, number] => [i, i + 1 + k]));

/** The chosen rows of a column, or all of them. */
const pick = (values: Float64Array, rows: readonly number[] | null): Float64Array =>
  rows === null ? values : Float64Array.from(rows, (row) => values[row]!);

function unmatchedSentences({ unmatched }: PairedColumns): string[] {
  if (unmatched === null) return [];
  const sides = [
    ['prediction(s) have no label', unmatched.predictions],
    ['label(s) have no prediction', unmatched.labels],
  ] as const;
  return sides.flatMap(([what, { count, examples }]) => {
    const more = count > examples.length ? ` and ${count - examples.length} more` : '';
    return count === 0 ? [] : [`${count} ${what}, left out: ${examples.join(', ')}${more}`];
  });
}

/** Predictions that bring targets of their own, beside a file of labels. */
const shadowedTarget = (target: string, { tables, labels }: PairedColumns): string[] =>
  labels === null
    ? []
    : tables
        .filter(({ columns }) => columns.includes(target))
        .map(
          ({ path }) =>
            `"${target}" is taken from ${labels.path}; the column of that name in ${path} was not used`,
        );

function scaleNotices({ predictions, target }: CorrelateOptions, columns: PairedColumns): string[] {
  const { targets, datasets } = columns;
  const targetRange = rangeOf(targets);
  const ofColumn = (name: string, values: Float64Array) =>
    scalePartsNotice(name, values, datasets) ?? scaleMixNotice(name, values);
  return [
    ofColumn(target, targets),
    ...predictions.flatMap((name, i) => {
      const scores = columns.predictions[i]!;
      return [ofColumn(name, scores), scalePairNotice(name, rangeOf(scores), target, targetRange)];
    }),
  ].filter((notice) => notice !== undefined);
}
