import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import {
  asStorageError,
  ConfigError,
  InputError,
  listNames,
  type Progress,
  Rng,
  sha256OfFile,
  writeFolderAtomic,
  writeJsonl,
} from '../../core/index.ts';
import { loadDataset } from '../load.ts';
import { DATASET_FILE, type ImageRecord, RECORDS_FILE, SPLITS, type Split } from '../records.ts';
import { bundlesOf, drawSplit } from './assign.ts';
import type { SplitConfig } from './config.ts';
import { contentNotes, contentsOf } from './contents.ts';

/** What lies at the top of the output folder, beside the splits. */
export const SPLITS_FILE = 'splits.json';

/** As most of the literature does: ten splits into 80 % and 20 %. */
const REPEATS = 10;

export interface SplitSummary {
  /** Folder of the split, below the output folder. */
  folder: string;
  /** Names the split: see splitHash. */
  sha256: string;
  counts: Record<Split, number>;
  /** Mean MOS of each split; null where it holds no score. */
  meanMos: Record<Split, number | null>;
}

export interface SplitReport {
  output: string;
  images: number;
  /** Sets of images that must share a split. */
  bundles: number;
  splits: SplitSummary[];
  /** What is worth knowing about equal pictures, one sentence each. */
  notes: string[];
}

export interface SplitOptions {
  progress?: Progress;
  signal?: AbortSignal;
}

/** SHA-256 over the lines "id<tab>split" in the order of the ids' code units: which image is where, nothing else. */
export function splitHash(records: readonly Pick<ImageRecord, 'id' | 'split'>[]): string {
  const lines = records.map(({ id, split }) => `${id}\t${split}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/**
 * Writes splits of a data set as data set folders (split-01, split-02, ...) that every command reads like any other;
 * the images stay where they are. Images of the cross split are left as they are. splits.json lists rule, seed and
 * hash of each; the folder appears whole or not at all. Images whose files are equal byte for byte share a split
 * whatever their groups; files that are not there are counted in the notes.
 */
export async function splitDataset(config: SplitConfig, options: SplitOptions = {}): Promise<SplitReport> {
  await checkOwn(config.output);
  const dataset = await loadDataset(config.data, {
    // Drawing anew is how a set whose splits leak is mended.
    ignoreSplits: config.rule === 'group',
  });
  const { folder, records, images } = dataset;
  const contents = config.hashImages ? await contentsOf(dataset, options) : records.map(() => null);
  const free = [...records.keys()].filter((i) => records[i]!.split !== 'cross');
  const members = free.map((i) => records[i]!);
  const bundles = bundlesOf(
    members,
    free.map((i) => contents[i]!),
  );
  checkEnough(config, members, bundles.length);
  const source = {
    data: folder,
    recordsSha256: await sha256OfFile(join(folder, RECORDS_FILE)),
  };
  const repeats = config.rule === 'official' ? 1 : (config.repeats ?? REPEATS);
  const { output, data: _data, paths, ...given } = config;
  const settings = { ...given, repeats };
  const summaries: SplitSummary[] = [];
  await writeFolderAtomic(output, async (temporary) => {
    for (let repeat = 1; repeat <= repeats; repeat++) {
      const name = `split-${String(repeat).padStart(Math.max(2, String(repeats).length), '0')}`;
      const splits =
        config.rule === 'official'
          ? members.map(({ split }) => split)
          : drawSplit(
              members,
              bundles,
              { test: config.testShare, validation: config.validationShare, strata: config.strata },
              new Rng(config.seed).fork('split', repeat),
            );
      refuseEmpty(config, name, splits, bundles.length);
      const splitOf = new Map(free.map((i, at) => [i, splits[at]!]));
      const rows = records.map((record, i) => ({
        ...record,
        image: referTo(images[i]!, join(output, name), paths),
        split: splitOf.get(i) ?? record.split,
      }));
      const summary = summarize(name, rows);
      await mkdir(join(temporary, name));
      await writeJsonl(join(temporary, name, RECORDS_FILE), rows);
      const info = {
        name: records[0]!.dataset,
        split: { ...settings, repeat, sha256: summary.sha256, counts: summary.counts },
        source,
      };
      await writeFile(join(temporary, name, DATASET_FILE), `${JSON.stringify(info, null, 2)}\n`);
      summaries.push(summary);
    }
    const list = { ...settings, source, bundles: bundles.length, splits: summaries };
    await writeFile(join(temporary, SPLITS_FILE), `${JSON.stringify(list, null, 2)}\n`);
    await checkOwn(output);
  });
  const notes = config.hashImages ? contentNotes(dataset, contents, config.rule) : [];
  return { output, images: records.length, bundles: bundles.length, splits: summaries, notes };
}

function checkEnough(config: SplitConfig, records: readonly ImageRecord[], bundles: number): void {
  if (config.rule === 'official') {
    const has = SPLITS.filter((split) => records.some((record) => record.split === split));
    if (has.includes('train') && has.length > 1) return;
    throw new InputError(`${config.data} has no official split: all its images are in ${has.join(', ')}`, {
      hint: 'use --rule group to draw splits',
    });
  }
  const parts = 1 + (config.testShare > 0 ? 1 : 0) + (config.validationShare > 0 ? 1 : 0);
  if (bundles < parts) {
    throw new InputError(`${config.data} has ${bundles} group(s), too few for ${parts} splits`, {
      hint: 'images of one group or reference must share a split',
    });
  }
}

/** A share that is asked for and comes out empty would be found much later, when there is nothing to test on. */
function refuseEmpty(config: SplitConfig, name: string, splits: readonly Split[], bundles: number): void {
  if (config.rule === 'official') return;
  const wanted: [Split, number, string][] = [
    ['test', config.testShare, `testShare ${config.testShare}`],
    ['validation', config.validationShare, `validationShare ${config.validationShare}`],
    ['train', 1, `testShare ${config.testShare} and validationShare ${config.validationShare}`],
  ];
  for (const [split, share, setting] of wanted) {
    if (share === 0 || splits.includes(split)) continue;
    throw new InputError(
      `${name} would have no ${split} images: ${splits.length} images in ${bundles} groups, ${setting}`,
      { hint: 'change the shares, or give the set smaller groups: whole groups go to one split' },
    );
  }
}

const referTo = (image: string, folder: string, paths: SplitConfig['paths']): string =>
  paths === 'absolute' ? resolve(image) : relative(resolve(folder), resolve(image));

function summarize(folder: string, rows: readonly ImageRecord[]): SplitSummary {
  const of = (split: Split) => rows.filter((row) => row.split === split);
  const mean = (split: Split): number | null => {
    const scores = of(split).flatMap(({ mos }) => mos ?? []);
    return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  const bySplit = <T>(value: (split: Split) => T): Record<Split, T> => ({
    train: value('train'),
    validation: value('validation'),
    test: value('test'),
    cross: value('cross'),
  });
  return {
    folder,
    sha256: splitHash(rows),
    counts: bySplit((split) => of(split).length),
    meanMos: bySplit(mean),
  };
}

/** Refuses an output folder that holds anything but what this command wrote: it is replaced. */
async function checkOwn(output: string): Promise<void> {
  const refuse = (why: string): ConfigError =>
    new ConfigError(`${output} will not be replaced: ${why}`, {
      hint: 'choose another output folder with --out, or move these files away',
    });
  const names = await namesIn(output);
  if (names.length === 0) return;
  const others = names.filter((name) => name !== SPLITS_FILE && !/^split-\d+$/.test(name));
  if (others.length > 0 || !names.includes(SPLITS_FILE)) {
    throw refuse(
      `it holds ${listNames(others.length > 0 ? others : names)}, which this command did not write`,
    );
  }
  for (const name of names.filter((one) => one !== SPLITS_FILE)) {
    const strange = (await namesIn(join(output, name))).filter(
      (inner) => inner !== RECORDS_FILE && inner !== DATASET_FILE,
    );
    if (strange.length > 0) {
      throw refuse(`${name} holds ${listNames(strange)}, which this command did not write`);
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw asStorageError(error, `writing the splits to ${folder}`);
  }
}
