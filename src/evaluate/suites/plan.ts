import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, InputError, type Progress } from '../../core/index.ts';
import { type ImageRecord, loadDataset, RECORDS_FILE } from '../../data/index.ts';
import type { BaselineName } from '../baselines/names.ts';
import { dataIdentity, type EvaluationIdentity, hashImages, type Reading } from '../run-identity.ts';
import type { Suite, SuiteEntry, SuiteMetric, SuiteSplit } from './suite.ts';

/** Images of one split of one data set folder. */
export interface PlanPart {
  folder: string;
  split: SuiteSplit;
}

export interface PlanEntry extends PlanPart {
  id: string;
  title: string;
}

/** What to measure, all folders known: from a suite, or from the options of a command. */
export interface EvaluationPlan {
  /** Name of the suite; null without one. */
  suite: string | null;
  title: string;
  entries: PlanEntry[];
  readings: Reading[];
  metrics: readonly SuiteMetric[];
  train: PlanPart | null;
  baselines: readonly BaselineName[];
  quoted: Suite['quoted'];
}

/** Where the data sets of a suite lie. */
export interface DatasetFolders {
  /** Holds a folder for each data set; or is the data set itself, where the suite has a single one. */
  root: string | null;
  /** Folders of single data sets, by the name in the suite. */
  byName: Readonly<Record<string, string>>;
  /** Leave out entries whose data set is not there, instead of refusing. */
  skipMissing: boolean;
}

async function holdsDataset(folder: string): Promise<boolean> {
  try {
    return (await stat(join(folder, RECORDS_FILE))).isFile();
  } catch {
    return false;
  }
}

/** The plan of a suite. ConfigError that names every data set that is missing, and how to import it. */
export async function planSuite(
  suite: Suite,
  folders: DatasetFolders,
  readings: Reading[],
  note: (line: string) => void,
): Promise<EvaluationPlan> {
  const names = [
    ...new Set([...suite.entries, ...(suite.train ? [suite.train] : [])].map(({ dataset }) => dataset)),
  ];
  const unknown = Object.keys(folders.byName).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new ConfigError(`suite ${suite.name} has no data set ${unknown.join(', ')}`, {
      hint: `its data sets are ${names.join(', ')}`,
    });
  }
  const { root } = folders;
  const rootIsDataset = root !== null && names.length === 1 && (await holdsDataset(root));
  const folderOf = (name: string): string | null =>
    folders.byName[name] ?? (root === null ? null : rootIsDataset ? root : join(root, name));
  const present = new Map<string, string>();
  const missing: string[] = [];
  for (const name of names) {
    const folder = folderOf(name);
    if (folder !== null && (await holdsDataset(folder))) present.set(name, folder);
    else missing.push(name);
  }
  const lacking = (name: string): string => {
    const how = suite.entries.find(
      ({ dataset, import: line }) => dataset === name && line !== undefined,
    )?.import;
    return `  ${name}: no ${RECORDS_FILE} in ${folderOf(name) ?? '(no folder given)'}${how === undefined ? '' : `; ${how}`}`;
  };
  const entries = suite.entries.filter(({ dataset }) => present.has(dataset));
  if (missing.length > 0 && (!folders.skipMissing || entries.length === 0)) {
    throw new ConfigError(
      `suite ${suite.name} lacks ${missing.length} data set(s):\n${missing.map(lacking).join('\n')}`,
      {
        hint: 'import them into --data, give --set datasets.NAME=FOLDER, or measure the others with --set skipMissing=true',
      },
    );
  }
  for (const name of missing) note(`left out:${lacking(name)}`);
  const trainFolder = suite.train === undefined ? undefined : present.get(suite.train.dataset);
  return {
    suite: suite.name,
    title: suite.title,
    entries: entries.map(({ id, title, dataset, split }: SuiteEntry) => ({
      id,
      title,
      split,
      folder: present.get(dataset)!,
    })),
    readings,
    metrics: suite.metrics,
    train: trainFolder === undefined ? null : { folder: trainFolder, split: suite.train!.split },
    baselines: suite.baselines,
    quoted: suite.quoted,
  };
}

/** The images of a part with what identifies them. */
export interface PartData {
  folder: string;
  /** Those with a MOS. */
  records: ImageRecord[];
  /** SHA-256 of each image file. */
  hashes: string[];
  identity: EvaluationIdentity['data'];
}

/** Reads a part's records and hashes its images. InputError where no image of it has a MOS. */
export async function loadPart(
  { folder, split }: PlanPart,
  { progress, signal }: { progress: Progress; signal?: AbortSignal | undefined },
): Promise<PartData> {
  const dataset = await loadDataset(folder);
  const chosen = dataset.records.flatMap((record, i) =>
    record.mos !== null && (split === 'all' || record.split === split) ? [i] : [],
  );
  if (chosen.length === 0) {
    throw new InputError(`${folder} has no image with a MOS in split ${split}`, {
      hint: `its images are in ${[...new Set(dataset.records.map((record) => record.split))].join(', ')}`,
    });
  }
  const records = chosen.map((i) => dataset.records[i]!);
  progress.start(`hash the images of ${folder} (${split})`, records.length);
  const hashes = await hashImages(
    chosen.map((i) => dataset.images[i]!),
    { onHashed: (done) => progress.update(done), ...(signal === undefined ? {} : { signal }) },
  );
  progress.stop();
  return { folder, records, hashes, identity: dataIdentity(dataset, split, records, hashes) };
}
