import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  ConfigError,
  InputError,
  type Progress,
  Rng,
  sha256OfFile,
  silentProgress,
  writeFolderAtomic,
} from '../core/index.ts';
import { assignGroups, type Imported, moveGroups, moveNotes } from './import-groups.ts';
import type { ImportManifestConfig } from './import-manifest-config.ts';
import { locateImages } from './import-manifest-images.ts';
import { unusableRows } from './import-manifest-problems.ts';
import { recordOfLabel } from './import-manifest-record.ts';
import { checkDirection } from './manifest/check-direction.ts';
import { chooseForm, type FormRows, readForm } from './manifest/files.ts';
import { ImageIndex } from './manifest/image-index.ts';
import { type LabelProblem, labelsOf, type Scale } from './manifest/labels.ts';
import { type LoadedManifest, loadManifest } from './manifest/load.ts';
import type { ManifestForm } from './manifest/schema.ts';
import { DATASET_FILE, type ImageRecord, RECORDS_FILE, SPLITS, type Split } from './records.ts';
import { checkReplaceable, type OwnFiles } from './replace.ts';

export interface ManifestImportSummary {
  output: string;
  manifest: string;
  form: string;
  /** Rows of the label files; images of the folder where there are none. */
  rows: number;
  counts: Record<Split, number>;
  /** Least and greatest published score among the images imported; null where nobody has judged them. */
  found: [number, number] | null;
  scale: { range: [number, number]; direction: 'higher' | 'lower' } | null;
  excluded: { why: string; images: string[] }[];
  problems: LabelProblem[];
  /** Picture files that no label names. */
  unlabelled: string[];
  notes: string[];
}

export interface ImportManifestOptions {
  progress?: Progress;
  signal?: AbortSignal;
}

/**
 * Imports a published data set by its manifest: labels read as the authors ship them, scores brought linearly from
 * the manifest's range to [1, 5] with higher better (as all peers do: n = 1 + 4 (mos - min) / (max - min), the range
 * turned round first where lower is better), official splits kept, records.jsonl referring to the images in place.
 */
export async function importManifest(
  config: ImportManifestConfig,
  { progress = silentProgress, signal }: ImportManifestOptions = {},
): Promise<ManifestImportSummary> {
  const manifest = await loadManifest(config.manifest);
  const own: OwnFiles = {
    names: [DATASET_FILE, RECORDS_FILE],
    mark: 'importedFrom',
    reads: { imagesFolder: config.imagesFolder, labels: config.labels, manifest: manifest.path },
  };
  await checkReplaceable(config.output, own);
  const chosen = await chooseForm(manifest, config);
  const { form } = chosen;
  const scale = scaleOf(manifest, form, config);
  const index =
    config.labelsOnly || config.imagesFolder === undefined
      ? undefined
      : await ImageIndex.open(config.imagesFolder, config);
  const { rows, tables, notes } =
    form.files.length === 0 ? rowsOfImages(manifest, index) : await readForm(chosen);
  if (rows.length === 0)
    throw new InputError(`${manifest.name}: the labels have no rows`, {
      hint: 'copy or download them again',
    });
  signal?.throwIfAborted();

  const read = labelsOf(rows, form, scale);
  if (scale !== null) checkDirection(read.labels, scale, manifest.name);
  const problems = [...read.problems];
  const located = await locateImages(read.labels, index, config, problems, { progress, signal });
  if (problems.length > 0 && (config.badRows === 'fail' || located.length === 0))
    throw unusableRows(manifest.name, problems, rows.length);
  if (read.repeated > 0) notes.push(`${read.repeated} rows repeat an image and say the same of it`);
  notes.push(...countNotes(manifest, form, rows.length, read.labels.length, read.excluded));

  const official = config.officialSplit && located.some(({ label }) => label.split !== null);
  const imported = located.map(
    (one): Imported => ({
      record: recordOfLabel(one, { manifest, form, scale, config, official }),
      sha256: one.sha256,
      group: one.label.group,
    }),
  );
  const records = imported.map(({ record }) => record);
  assignGroups(imported, { csv: manifest.name, allowDuplicates: config.allowDuplicates, official });
  notes.push(...assignSplits(records, official, config));
  const { output: _, ...settings } = config;
  await writeFolderAtomic(config.output, async (folder) => {
    const path = join(folder, RECORDS_FILE);
    await pipeline(Readable.from(chunks(records)), createWriteStream(path));
    const info = {
      name: config.name ?? manifest.name,
      title: manifest.title,
      importedFrom: basename(manifest.path),
      licence: manifest.licence,
      citation: manifest.citation,
      ...(manifest.homepage === undefined ? {} : { homepage: manifest.homepage }),
      manifestSha256: manifest.sha256,
      form: form.id,
      scale,
      splits: official ? manifest.splits : `by group, seed ${config.seed}`,
      labels: tables.map(({ path: file, sha256 }) => ({ file: basename(file), sha256 })),
      imagesChecked: !config.labelsOnly,
      settings,
      recordsSha256: await sha256OfFile(path),
    };
    await writeFile(join(folder, DATASET_FILE), `${JSON.stringify(info, null, 2)}\n`);
    // Something may have been put there in the meantime.
    await checkReplaceable(config.output, own);
  });
  const values = located.flatMap(({ label }) => label.value ?? []);
  const used = new Set(located.map(({ path }) => path));
  return {
    output: config.output,
    manifest: manifest.name,
    form: form.id,
    rows: rows.length,
    counts: Object.fromEntries(
      SPLITS.map((split) => [split, records.filter((record) => record.split === split).length]),
    ) as Record<Split, number>,
    found: values.length === 0 ? null : [least(values), -least(values.map((value) => -value))],
    scale: scale === null ? null : { range: [...scale.range], direction: scale.direction },
    excluded: read.excluded,
    problems,
    unlabelled: (index?.paths ?? []).filter((path) => !used.has(resolve(index!.absolute(path)))),
    notes,
  };
}

const least = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);

function* chunks(records: readonly ImageRecord[]): Generator<string> {
  const size = 1000;
  for (let at = 0; at < records.length; at += size) {
    yield records
      .slice(at, at + size)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
  }
}

/** The scale of the scores; null where nobody has judged the images. Nothing is read off the data. */
function scaleOf(manifest: LoadedManifest, form: ManifestForm, config: ImportManifestConfig): Scale | null {
  if (form.mos === null && !form.mosFromVotes) {
    if (config.range !== undefined || config.direction !== undefined) {
      throw new ConfigError(`${manifest.name} has no scores, so it has no range or direction`);
    }
    return null;
  }
  const range = config.range ?? form.range;
  const direction = config.direction ?? form.direction;
  const missing = [
    ...(range === undefined ? ['--set range=[lowest,highest]'] : []),
    ...(direction === undefined ? ['--set direction=higher'] : []),
  ];
  if (range === undefined || direction === undefined) {
    throw new ConfigError(`${manifest.name} carries scores of any scale, so the scale must be said`, {
      hint: `give ${missing.join(' and ')}; the range is that of the whole data set, not of this file`,
    });
  }
  return { range, direction };
}

function rowsOfImages(manifest: LoadedManifest, index: ImageIndex | undefined): FormRows {
  if (index === undefined) {
    throw new ConfigError(`${manifest.name} has no label file: the images are the list`, {
      hint: 'give --images <folder>',
    });
  }
  return { rows: index.paths.map((image) => ({ place: image, cells: { image } })), tables: [], notes: [] };
}

function countNotes(
  manifest: LoadedManifest,
  form: ManifestForm,
  rows: number,
  labels: number,
  excluded: readonly { why: string; images: string[] }[],
): string[] {
  const notes = excluded.map(({ why, images }) => `${images.length} rows left out: ${why}`);
  if (form.expect.rows !== undefined && form.expect.rows !== rows) {
    notes.push(
      `${rows} rows, ${manifest.title} has ${form.expect.rows} in form ${form.id}: a part of it, or another version`,
    );
  }
  if (form.expect.images !== undefined && form.expect.images !== labels) {
    notes.push(`${labels} labelled images, ${manifest.title} has ${form.expect.images}`);
  }
  return notes;
}

/** Moves whole groups by a seeded shuffle; official test images are never touched. Returns notes. */
function assignSplits(
  records: readonly ImageRecord[],
  official: boolean,
  config: ImportManifestConfig,
): string[] {
  const rng = new Rng(config.seed).fork('import');
  const notes: string[] = [];
  const move = (to: Split, share: number): void => {
    notes.push(...moveNotes(to, share, moveGroups(records, to, share, rng.fork(to))));
  };
  if (!official) move('test', config.testShare);
  if (!records.some((record) => record.split === 'validation')) move('validation', config.validationShare);
  return notes;
}
