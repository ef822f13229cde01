import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import {
  asStorageError,
  ConfigError,
  InputError,
  listNames,
  sha256OfFile,
  writeFolderAtomic,
} from '../../core/index.ts';
import { imagePath, loadDataset } from '../load.ts';
import { loadShippedPrompt, renderPrompt } from '../prompts.ts';
import { type ImageRecord, RECORDS_FILE, SPLITS, type Split } from '../records.ts';
import { readAnswers } from './answers.ts';
import type { ExportConfig } from './config.ts';
import { EXPORT_FORMATS, type ExportFormat, type ExportItem } from './formats.ts';
import { toParquet } from './parquet.ts';

/** Says what the other files are, and marks the folder as one that may be replaced. */
export const EXPORT_FILE = 'export.json';

export interface ExportSummary {
  output: string;
  /** Rows by split, without the splits that have none. */
  counts: Partial<Record<Split, number>>;
  files: string[];
  /** Images left out: nobody has judged them, or no answer is about them. */
  unjudged: number;
  unanswered: number;
}

const infoSchema = z.looseObject({ files: z.array(z.looseObject({ file: z.string() })) });

/**
 * Writes a data set as the rows of another project, one file for each split, with export.json that names format,
 * prompt, counts and hashes. Scores are on [1, 5] with higher better whatever the source had.
 */
export async function exportDataset(config: ExportConfig): Promise<ExportSummary> {
  const format: ExportFormat = EXPORT_FORMATS[config.format];
  checkAnswers(config, format);
  await checkOutput(config.output);
  const dataset = await loadDataset(config.dataset);
  const answers =
    config.answers === undefined ? undefined : await readAnswers(config.answers, dataset.records);
  const prompt = await loadShippedPrompt(config.prompt);
  const question = renderPrompt(prompt).text;
  const chosen = dataset.records.filter(({ split }) => config.splits.includes(split));
  const pathOf = pathWriter(config);
  const itemsOf = (record: ImageRecord): ExportItem[] => {
    const { mos } = record;
    if (mos === null) return [];
    const shared = { record, mos, image: pathOf(record), question };
    if (answers === undefined) return [{ ...shared, response: null }];
    return (answers.get(record.id) ?? []).map((response) => ({ ...shared, response }));
  };
  const bySplit = SPLITS.flatMap((split) => {
    const items = chosen.filter((record) => record.split === split).flatMap(itemsOf);
    return items.length === 0 ? [] : [{ split, rows: items.map((item, i) => format.row(item, i)) }];
  });
  if (bySplit.length === 0) {
    throw new InputError(`${config.dataset} has nothing to export in ${config.splits.join(', ')}`, {
      hint: 'images without a score are left out; with --answers so are those without an answer',
    });
  }
  const written: { file: string; rows: number; sha256: string }[] = [];
  await writeFolderAtomic(config.output, async (folder) => {
    for (const { split, rows } of bySplit) {
      const file = `${split}.${format.container}`;
      await writeFile(join(folder, file), serialize(rows, format.container));
      written.push({ file, rows: rows.length, sha256: await sha256OfFile(join(folder, file)) });
    }
    if (config.format === 'llama-factory') {
      await writeFile(join(folder, 'dataset_info.json'), datasetInfo(bySplit.map(({ split }) => split)));
      written.push({
        file: 'dataset_info.json',
        rows: 0,
        sha256: await sha256OfFile(join(folder, 'dataset_info.json')),
      });
    }
    const info = {
      format: config.format,
      dataset: chosen[0]?.dataset,
      licences: [...new Set(chosen.flatMap(({ licence }) => licence ?? []))],
      recordsSha256: await sha256OfFile(join(config.dataset, RECORDS_FILE)),
      ...(config.answers === undefined ? {} : { answersSha256: await sha256OfFile(config.answers) }),
      prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
      scale: { range: [1, 5], direction: 'higher' },
      files: written,
    };
    await writeFile(join(folder, EXPORT_FILE), `${JSON.stringify(info, null, 2)}\n`);
    await checkOutput(config.output);
  });
  const judged = chosen.filter(({ mos }) => mos !== null);
  return {
    output: config.output,
    counts: Object.fromEntries(bySplit.map(({ split, rows }) => [split, rows.length])),
    files: [...written.map(({ file }) => file), EXPORT_FILE],
    unjudged: chosen.length - judged.length,
    unanswered: answers === undefined ? 0 : judged.filter(({ id }) => !answers.has(id)).length,
  };
}

function checkAnswers({ format: name, answers }: ExportConfig, format: ExportFormat): void {
  if (answers === undefined && !format.scores) {
    throw new ConfigError(`${name} rows hold an answer to learn, and none is given`, {
      hint: 'give the accepted.jsonl of a distillation with --answers',
    });
  }
  if (answers !== undefined && !format.responses) {
    const able = Object.entries<ExportFormat>(EXPORT_FORMATS).filter(([, { responses }]) => responses);
    throw new ConfigError(`${name} rows hold scores and no answers`, {
      hint: `leave out --answers, or choose ${able.map(([other]) => other).join(', ')}`,
    });
  }
}

/** Labels whose images were not looked for keep the names they have. */
function pathWriter({ dataset, output, paths }: ExportConfig): (record: ImageRecord) => string {
  return (record) => {
    if (paths === 'recorded' || record.imageUnchecked === true) return record.image;
    const path = resolve(imagePath(dataset, record));
    return paths === 'absolute' ? path : relative(resolve(output), path);
  };
}

function serialize(
  rows: readonly Record<string, unknown>[],
  container: ExportFormat['container'],
): string | Uint8Array {
  if (container === 'parquet') return toParquet(rows);
  if (container === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`;
}

/** LLaMA-Factory finds its data sets by this file. */
const datasetInfo = (splits: readonly Split[]): string => {
  const entry = (split: Split) => ({
    file_name: `${split}.json`,
    formatting: 'sharegpt',
    columns: { messages: 'messages', images: 'images' },
    tags: { role_tag: 'role', content_tag: 'content', user_tag: 'user', assistant_tag: 'assistant' },
  });
  const entries = splits.map((split) => [`q_ponder_${split}`, entry(split)]);
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
};

/** An older export may be replaced, a folder with anything else in it may not. */
async function checkOutput(output: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(output);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw asStorageError(error, `writing the export to ${output}`);
  }
  const known = names.includes(EXPORT_FILE) ? await filesOf(join(output, EXPORT_FILE)) : [];
  const others = names.filter((name) => name !== EXPORT_FILE && !known.includes(name));
  if (others.length > 0) {
    throw new ConfigError(
      `${output} will not be replaced: it holds ${listNames(others)}, which no export wrote`,
      {
        hint: 'choose another output folder with --out, or move these files away',
      },
    );
  }
}

async function filesOf(path: string): Promise<string[]> {
  try {
    return infoSchema.parse(JSON.parse(await readFile(path, 'utf8'))).files.map(({ file }) => file);
  } catch (error) {
    const storage = asStorageError(error, `reading ${path}`);
    if (storage !== error) throw storage;
    throw new ConfigError(`${path} is not what an export writes`, {
      hint: 'choose another output folder with --out',
    });
  }
}
