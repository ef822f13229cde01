import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { asStorageError, ConfigError, listNames, readAllJsonl, sha256OfFile } from '../core/index.ts';
import { DATASET_FILE, RECORDS_FILE } from './records.ts';

/** What a command writes into its output folder. */
export interface OwnFiles {
  /** All names at the top; a folder that lacks one of them was not made by the command. */
  names: readonly string[];
  /** Key of dataset.json by which the command's own data sets are told from another command's. */
  mark: string;
  /** The one of `names` that is a folder; it holds what records.jsonl names and nothing else. */
  imagesFolder?: string;
  /** Files and folders that the command reads, by the setting that names them. */
  reads: Readonly<Record<string, string | undefined>>;
}

const infoSchema = z.looseObject({ recordsSha256: z.string().optional() });
const imageSchema = z.looseObject({ image: z.string() });

/**
 * Refuses an output folder that holds anything but what the same command wrote into it: replacing it would
 * delete the user's own files. An absent or empty folder may be used.
 */
export async function checkReplaceable(output: string, own: OwnFiles): Promise<void> {
  await refuseReadsInside(output, own.reads);
  const names = await namesIn(output);
  if (names === null || names.length === 0) return;
  const others = names.filter((name) => !own.names.includes(name));
  if (others.length > 0) {
    throw refusal(output, `it holds ${listNames(others)}, which this command did not write`);
  }
  const absent = own.names.filter((name) => !names.includes(name));
  if (absent.length > 0) throw refusal(output, `it is no data set of this command: it has no ${absent[0]}`);
  const info = await readInfo(output);
  if (!(own.mark in info)) throw refusal(output, 'another command made it');
  const records = join(output, RECORDS_FILE);
  if (info.recordsSha256 !== undefined && info.recordsSha256 !== (await sha256OfFile(records))) {
    throw refusal(output, `${RECORDS_FILE} was changed since it was written`);
  }
  if (own.imagesFolder === undefined) return;
  const written = new Set((await readAllJsonl(records, imageSchema)).map(({ image }) => image));
  const strange = ((await namesIn(join(output, own.imagesFolder))) ?? [])
    .map((name) => `${own.imagesFolder}/${name}`)
    .filter((name) => !written.has(name));
  if (strange.length > 0) {
    throw refusal(output, `it holds ${listNames(strange)}, which this command did not write`);
  }
}

const refusal = (output: string, why: string): ConfigError =>
  new ConfigError(`${output} will not be replaced: ${why}`, {
    hint: 'choose another output folder with --out, or move these files away',
  });

async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw asStorageError(error, `writing the data set to ${folder}`);
  }
}

async function readInfo(output: string): Promise<z.infer<typeof infoSchema>> {
  try {
    return infoSchema.parse(JSON.parse(await readFile(join(output, DATASET_FILE), 'utf8')));
  } catch (error) {
    const storage = asStorageError(error, `reading ${join(output, DATASET_FILE)}`);
    if (storage !== error) throw storage;
    throw refusal(output, `${DATASET_FILE} is not what this command writes`);
  }
}

/** What is read must not lie in the folder that is replaced, however the paths are written. */
async function refuseReadsInside(output: string, reads: OwnFiles['reads']): Promise<void> {
  const folder = await realPathOf(output);
  for (const [setting, path] of Object.entries(reads)) {
    if (path === undefined) continue;
    const way = relative(folder, await realPathOf(path));
    if (way === '' || (way !== '..' && !way.startsWith(`..${sep}`))) {
      throw new ConfigError(`${setting} ${path} lies in the output folder ${output}, which is replaced`, {
        hint: 'choose another output folder with --out',
      });
    }
  }
}

/** Links resolved as far as the path exists. */
async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || dirname(whole) === whole) {
      throw asStorageError(error, `reading ${path}`);
    }
    return join(await realPathOf(dirname(whole)), relative(dirname(whole), whole));
  }
}
