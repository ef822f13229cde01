import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, normalize } from 'node:path';
import sharp from 'sharp';
import { InterruptedError, type Progress, silentProgress, writeFileAtomic } from '../../core/index.ts';
import { inParallel } from '../load.ts';
import { SPLITS } from '../records.ts';
import { FactsCache } from './cache.ts';
import {
  checkDuplicates,
  checkGroups,
  checkIds,
  checkLabels,
  checkNearDuplicates,
  type DirectionHint,
  type Looked,
} from './checks.ts';
import type { ValidateConfig } from './config.ts';
import { FINDING_KINDS, type Finding, type FindingKind, severityOf } from './findings.ts';
import { type ImageFacts, inspectImage } from './image-facts.ts';
import { FileLocator } from './locate.ts';
import { validationPage } from './page.ts';
import { type Row, readRows, shownPath } from './rows.ts';

export interface ValidationReport {
  folder: string;
  images: number;
  /** Images in each split; empty for a folder without records. */
  splits: Record<string, number>;
  /** Images with a score. */
  labels: number;
  counts: Record<FindingKind, number>;
  problems: number;
  warnings: number;
  direction: DirectionHint | null;
  findings: Finding[];
  /** Images decoded now, images known from an earlier run, and images that are not there. */
  decoded: number;
  known: number;
  absent: number;
  /** Of the whole command, and of looking at the images: with nothing in the cache, decoding them. */
  seconds: number;
  lookingSeconds: number;
}

export interface ValidateOptions {
  progress?: Progress;
  signal?: AbortSignal;
}

/** Images under way for each core: while some decode, others are read. */
const PER_CORE = 3;

/**
 * Looks at every record and image of a data set folder (or every image of a plain folder), writes report.html,
 * report.json and the cache, and returns the report. Nothing found is thrown. Memory holds about half a kilobyte
 * an image. Stopping keeps the cache: the same command goes on where it was.
 */
export async function validateDataset(
  config: ValidateConfig,
  { progress = silentProgress, signal }: ValidateOptions = {},
): Promise<ValidationReport> {
  const started = performance.now();
  const output = outputOf(config);
  const findings: Finding[] = [];
  const rows = await readRows(config.data, findings);
  const cache = await FactsCache.open(join(output, 'cache.jsonl'));
  const before = performance.now();
  const { looked, decoded, absent } = await lookAtAll(rows, config, cache, findings, progress, signal);
  const lookingSeconds = (performance.now() - before) / 1000;
  findings.push(
    ...checkIds(looked),
    ...checkGroups(looked),
    ...checkDuplicates(looked),
    ...checkNearDuplicates(looked, config.nearBits),
  );
  const labels = checkLabels(looked);
  findings.push(...labels.findings);
  const kept = findings.filter(({ kind }) => !config.ignore.includes(kind));
  const report: ValidationReport = {
    folder: config.data,
    images: rows.length,
    splits: countBy(rows),
    labels: rows.filter(({ mos }) => mos !== null).length,
    counts: countKinds(kept),
    problems: kept.filter(({ kind }) => severityOf(kind) === 'problem').length,
    warnings: kept.filter(({ kind }) => severityOf(kind) === 'warning').length,
    direction: labels.direction,
    findings: kept,
    decoded,
    known: rows.length - decoded - absent,
    absent,
    seconds: (performance.now() - started) / 1000,
    lookingSeconds,
  };
  await writeFileAtomic(join(output, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writeFileAtomic(join(output, 'report.html'), await validationPage(report, config.pixelLimit));
  return report;
}

/** Beside the data set, whose folder holds nothing but what made it. */
export const outputOf = ({ data, output }: ValidateConfig): string =>
  output ?? `${normalize(data).replace(/[/\\]+$/, '')}-validation`;

async function lookAtAll(
  rows: readonly Row[],
  config: ValidateConfig,
  cache: FactsCache,
  findings: Finding[],
  progress: Progress,
  signal: AbortSignal | undefined,
): Promise<{ looked: Looked[]; decoded: number; absent: number }> {
  const looked: Looked[] = new Array(rows.length);
  /** By row, so that their order does not depend on who was faster. */
  const found: (Finding | undefined)[] = new Array(rows.length);
  const files = new FileLocator();
  let done = 0;
  let decoded = 0;
  let absent = 0;
  let foundSoFar = 0;
  // One thread an image: many images at a time use the cores better than many threads on one.
  const threads = sharp.concurrency();
  sharp.concurrency(1);
  progress.start('images', rows.length);
  progress.update(0);
  try {
    await inParallel(rows.length, PER_CORE * availableParallelism(), async (i) => {
      if (signal?.aborted === true) return;
      const row = rows[i]!;
      const { path, otherCase } = await files.find(row.path);
      const facts = path === null ? null : await factsFor(path);
      if (facts === null) {
        absent++;
        found[i] = missing(row);
      } else if (facts.problem !== null) found[i] = broken(row, facts.problem);
      else if (otherCase) found[i] = misspelt(row, path!);
      looked[i] = { row: { ...row, path: path ?? row.path }, shown: row.image, facts };
      if (found[i] !== undefined) foundSoFar++;
      progress.update(++done, { found: foundSoFar });
    });
    await cache.flush();
  } finally {
    sharp.concurrency(threads);
    progress.stop();
  }
  if (signal?.aborted === true) {
    throw new InterruptedError(`validating ${config.data} was stopped at ${done} of ${rows.length} images`, {
      hint: 'run the same command again: what was looked at is kept',
    });
  }
  for (const one of found) if (one !== undefined) findings.push(one);
  return { looked, decoded, absent };

  async function factsFor(path: string): Promise<ImageFacts | null> {
    let size: number;
    let mtimeMs: number;
    try {
      ({ size, mtimeMs } = await stat(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      // Listed but not to be looked at; opening it says why.
      return inspectImage(path, config.pixelLimit);
    }
    const known = config.reuse ? cache.find(path, size, mtimeMs, config.pixelLimit) : undefined;
    if (known !== undefined) return known;
    decoded++;
    const facts = await inspectImage(path, config.pixelLimit);
    // A missing permission may be given later without a change of the file.
    if (facts.problem?.kind !== 'unreadable-image') {
      await cache.add(path, size, mtimeMs, config.pixelLimit, facts);
    }
    return facts;
  }

  function missing({ id, image }: Row): Finding {
    return { kind: 'missing-image', message: `${id}: there is no ${image}`, ids: [id], images: [] };
  }

  function broken({ id, path }: Row, { kind, message }: NonNullable<ImageFacts['problem']>): Finding {
    const shown = shownPath(config.data, path);
    return { kind, message: `${id}: ${shown}: ${message}`, ids: [id], images: [] };
  }

  function misspelt({ id, image }: Row, path: string): Finding {
    const shown = shownPath(config.data, path);
    return {
      kind: 'case-mismatch',
      message: `${id}: the record says ${image}, the file is ${shown}${sameLetters(image, shown) ? ' (another Unicode form)' : ''}`,
      ids: [id],
      images: [path],
    };
  }
}

const sameLetters = (a: string, b: string): boolean => a.normalize('NFC') === b.normalize('NFC');

/** In the usual order, names that are no splits behind. */
function countBy(rows: readonly Row[]): Record<string, number> {
  const names = new Set<string>(SPLITS);
  for (const { split } of rows) if (split !== null) names.add(split);
  const counts = [...names].map((name) => [name, rows.filter(({ split }) => split === name).length] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function countKinds(findings: readonly Finding[]): Record<FindingKind, number> {
  const counts = Object.fromEntries(Object.keys(FINDING_KINDS).map((kind) => [kind, 0])) as Record<
    FindingKind,
    number
  >;
  for (const { kind } of findings) counts[kind]++;
  return counts;
}
