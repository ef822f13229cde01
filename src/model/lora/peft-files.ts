import { stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { asStorageError, CheckpointError, writeFileAtomic } from '../../core/index.ts';
import { type FloatType, SafetensorsFile, type TensorData, writeSafetensors } from '../../formats/index.ts';
import type { AnyModelConfig } from '../config.ts';
import { canonicalName, type NameStyle, parameterShapes, storedName } from '../parameters.ts';
import { type Adapter, adapterParameters, type LoraPair, loraPair } from './adapter.ts';
import { ADAPTER_CONFIG_FILE, type PeftConfig, peftConfigOf, readPeftConfig } from './peft-config.ts';

export const ADAPTER_WEIGHTS_FILE = 'adapter_model.safetensors';
/** Metadata of the weights file: `baseFingerprint` of the model that the adapter was trained on. */
export const FINGERPRINT_KEY = 'base_fingerprint';

/** Whether a folder holds an adapter and not a model of its own. */
export async function isAdapterFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(join(folder, ADAPTER_CONFIG_FILE))).isFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw asStorageError(error, `reading ${folder}`);
  }
}

/**
 * The folder of the model that an adapter changes: what adapter_config.json says, a relative path from the adapter's
 * own folder. CheckpointError where there is none, such as a name on a hub.
 */
export async function baseFolderOf(folder: string): Promise<string> {
  const { base } = await readPeftConfig(folder);
  if (base === null || base === '') {
    throw new CheckpointError(`${join(folder, ADAPTER_CONFIG_FILE)} names no base model`, {
      hint: 'set its base_model_name_or_path to the folder of the model that the adapter was trained on',
    });
  }
  const path = isAbsolute(base) ? base : resolve(folder, base);
  try {
    if ((await stat(path)).isDirectory()) return await modelOfItsOwn(path, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw asStorageError(error, `reading ${path}`);
  }
  throw new CheckpointError(`the adapter ${folder} changes the model "${base}", which is no folder here`, {
    hint: `download it, and set base_model_name_or_path in ${join(folder, ADAPTER_CONFIG_FILE)} to its folder`,
  });
}

/** An adapter's base, unless it is an adapter again (or the very same one): two are not added up. */
async function modelOfItsOwn(base: string, folder: string): Promise<string> {
  if (!(await isAdapterFolder(base))) return base;
  throw new CheckpointError(`the adapter ${folder} changes the model ${base}, which is itself an adapter`, {
    hint: `merge that one first (q-ponder model merge ${base} --out ...) and name the result, or the model it was trained on, as base_model_name_or_path`,
  });
}

/** The open weights of an adapter's folder. CheckpointError where they are missing or in another format. */
async function openAdapterWeights(folder: string): Promise<SafetensorsFile> {
  try {
    return await SafetensorsFile.open(join(folder, ADAPTER_WEIGHTS_FILE));
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error;
    throw new CheckpointError(`${folder} has ${ADAPTER_CONFIG_FILE} but no ${ADAPTER_WEIGHTS_FILE}`, {
      hint: 'copy the whole folder again; PEFT writes this file unless it is told safe_serialization=False',
      cause: error,
    });
  }
}

/**
 * Writes an adapter as PEFT reads it: adapter_config.json and adapter_model.safetensors, the weights last.
 *
 * @param base what base_model_name_or_path shall say
 * @param names of the layers; PEFT knows those of transformers from 4.52 on (default, see `styleFor`)
 */
export async function saveAdapter(
  adapter: Adapter,
  folder: string,
  {
    base,
    fingerprint,
    names = 'new',
    dtype = 'F32',
    metadata = {},
  }: {
    base: string;
    fingerprint: string;
    names?: NameStyle;
    dtype?: FloatType;
    metadata?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const tensors = new Map<string, TensorData>();
  for (const [name, variable] of adapterParameters(adapter)) {
    const data = Float32Array.from(await variable.data<'float32'>());
    tensors.set(`base_model.model.${storedName(name, names)}`, { shape: variable.shape, data });
  }
  const config = `${JSON.stringify(peftConfigOf(adapter, base), null, 2)}\n`;
  await writeFileAtomic(join(folder, ADAPTER_CONFIG_FILE), config);
  await writeSafetensors(join(folder, ADAPTER_WEIGHTS_FILE), tensors, {
    dtype,
    metadata: { format: 'pt', ...metadata, [FINGERPRINT_KEY]: fingerprint },
  });
}

const ENTRY = /^base_model\.model\.(.+)\.lora_(A|B)(?:\.default)?\.weight$/;

/**
 * CheckpointError unless the folder's adapter fits a model of this configuration. Its numbers are not read.
 *
 * @param fingerprint of the base at hand, if it has weights; compared where the adapter says what it was trained on
 */
export async function requireAdapterFits(
  folder: string,
  config: AnyModelConfig,
  fingerprint?: string,
): Promise<void> {
  const settings = await readPeftConfig(folder);
  const path = join(folder, ADAPTER_WEIGHTS_FILE);
  const file = await openAdapterWeights(folder);
  try {
    pairedLayers(file, settings, config, path);
    if (fingerprint !== undefined)
      requireSameBase(file.metadata[FINGERPRINT_KEY], fingerprint, folder, settings);
  } finally {
    await file.close();
  }
}

/** The numbers of an adapter, as a file holds them. */
export interface AdapterMatrices extends PeftConfig {
  /** A [rank, in] and B [out, rank] by layer, in the order of the model's parameters. */
  pairs: Map<string, { output: number; input: number; down: Float32Array; up: Float32Array }>;
  /** Strings of the file's header, without those that every such file has. */
  metadata: Readonly<Record<string, string>>;
}

/**
 * Reads an adapter for a model of the given configuration. CheckpointError that names what doesn't fit: a layer the
 * model has not, a wrong shape, half a pair, another base.
 *
 * @param fingerprint of the base at hand; compared where the adapter says what it was trained on
 */
export async function readAdapter(
  folder: string,
  config: AnyModelConfig,
  fingerprint: string,
): Promise<AdapterMatrices> {
  const settings = await readPeftConfig(folder);
  const path = join(folder, ADAPTER_WEIGHTS_FILE);
  const file = await openAdapterWeights(folder);
  try {
    const layers = pairedLayers(file, settings, config, path);
    const { [FINGERPRINT_KEY]: trainedOn, ...metadata } = file.metadata;
    requireSameBase(trainedOn, fingerprint, folder, settings);
    const pairs: AdapterMatrices['pairs'] = new Map();
    for (const [layer, { A, B, output, input }] of layers) {
      const [down, up] = [(await file.read(A)).data, (await file.read(B)).data];
      if (!down.every(Number.isFinite) || !up.every(Number.isFinite)) {
        throw new CheckpointError(`${path} holds numbers that are NaN or infinite beside ${layer}`, {
          hint: 'the file is damaged or its training diverged: take another checkpoint',
        });
      }
      pairs.set(layer, { output, input, down, up });
    }
    return { ...settings, pairs, metadata };
  } finally {
    await file.close();
  }
}

/** `readAdapter`, as variables beside a model's parameters. */
export async function loadAdapter(
  folder: string,
  config: AnyModelConfig,
  fingerprint: string,
): Promise<Adapter> {
  const { rank, alpha, rsLora, dropout, pairs } = await readAdapter(folder, config, fingerprint);
  const variables = new Map<string, LoraPair>();
  for (const [layer, { output, input, down, up }] of pairs) {
    variables.set(layer, loraPair(rank, output, input, down, up));
  }
  return { rank, alpha, rsLora, dropout, pairs: variables };
}

/** Adapters of other tools don't say which weights they were trained on; ours do. */
function requireSameBase(
  trainedOn: string | undefined,
  fingerprint: string,
  folder: string,
  { base }: PeftConfig,
): void {
  if (trainedOn === undefined || trainedOn === fingerprint) return;
  throw new CheckpointError(
    `the adapter ${folder} was trained on another model than ${base}: on ${trainedOn.slice(0, 12)}, this one is ${fingerprint.slice(0, 12)}`,
    {
      hint: 'the shapes fit but the weights differ: set base_model_name_or_path to the model it was trained on',
    },
  );
}

interface PairedLayer {
  /** Names of the two tensors in the file. */
  A: string;
  B: string;
  output: number;
  input: number;
}

/** The adapted layers in the order of the model's parameters. */
function pairedLayers(
  file: SafetensorsFile,
  { rank }: PeftConfig,
  config: AnyModelConfig,
  path: string,
): Map<string, PairedLayer> {
  const found = new Map<string, { A?: string; B?: string }>();
  const problems: string[] = [];
  for (const name of file.tensors.keys()) {
    const [, module, half] = ENTRY.exec(name) ?? [];
    if (module === undefined) {
      problems.push(`${name} is no matrix of a LoRA on a linear layer`);
      continue;
    }
    const layer = canonicalName(module);
    const pair = found.get(layer) ?? {};
    found.set(layer, pair);
    pair[half as 'A' | 'B'] = name;
  }
  const layers = new Map<string, PairedLayer>();
  for (const [name, shape] of parameterShapes(config)) {
    const layer = name.replace(/\.weight$/, '');
    const pair = found.get(layer);
    if (!name.endsWith('.weight') || shape.length !== 2 || pair === undefined) continue;
    found.delete(layer);
    const [output, input] = shape as [number, number];
    const { A, B } = pair;
    if (A === undefined || B === undefined) {
      problems.push(
        `${layer} has lora_${A === undefined ? 'B' : 'A'} but not lora_${A === undefined ? 'A' : 'B'}`,
      );
      continue;
    }
    const expect = (entry: string, wanted: string): void => {
      const got = file.tensors.get(entry)!.shape.join(', ');
      if (got !== wanted) problems.push(`${entry} is [${got}] instead of [${wanted}]`);
    };
    expect(A, `${rank}, ${input}`);
    expect(B, `${output}, ${rank}`);
    layers.set(layer, { A, B, output, input });
  }
  for (const layer of found.keys()) problems.push(`the model has no linear layer ${layer}`);
  if (layers.size === 0 && problems.length === 0) problems.push('it holds no tensors');
  if (problems.length > 0) {
    const shown = problems.slice(0, 5).map((problem) => `  ${problem}`);
    const more = problems.length > 5 ? [`  and ${problems.length - 5} more`] : [];
    throw new CheckpointError(
      `${path} does not fit the model it is for:\n${[...shown, ...more].join('\n')}`,
      {
        hint: 'an adapter works on the model it was trained on alone: check base_model_name_or_path',
      },
    );
  }
  return layers;
}
