import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, CheckpointError, writeFileAtomic } from '../core/index.ts';
import { SafetensorsFile, type TensorData, writeSafetensors } from '../formats/index.ts';
import { ChatTemplate } from './chat-template.ts';
import { asMissing, type ModelConfig, parseModelConfig, readJsonFile } from './config.ts';
import { type ImageProcessorConfig, parseProcessorConfig } from './image-processor.ts';
import {
  canonicalName,
  checkParameters,
  exportParameters,
  loadParameters,
  type Parameters,
  parameterShapes,
} from './parameters.ts';
import { BpeTokenizer } from './tokenizer.ts';

/** The small JSON files of a model folder, kept as read so that they can be written beside new weights. */
interface FolderFiles {
  tokenizer: unknown;
  tokenizerConfig: Record<string, unknown>;
  generationConfig: unknown;
}

/** A model folder without its weights: all that prompts, images and parameter shapes need. */
export interface ModelFormat {
  config: ModelConfig;
  tokenizer: BpeTokenizer;
  processor: ImageProcessorConfig;
  chatTemplate: ChatTemplate;
  folder: string;
  files: FolderFiles;
}

export interface VisionLanguageModel extends ModelFormat {
  parameters: Parameters;
}

/** Reads everything but the weights of a Hugging Face Qwen2.5-VL folder. */
export async function loadModelFormat(folder: string): Promise<ModelFormat> {
  const path = (name: string) => join(folder, name);
  const names = await namesIn(folder);
  const config = parseModelConfig(await readJsonFile(path('config.json')), path('config.json'));
  const tokenizer = await readJsonFile(path('tokenizer.json'));
  const tokenizerConfig = await readJsonObject(path('tokenizer_config.json'));
  const processorJson = await readJsonFile(path('preprocessor_config.json'));
  const template = await readChatTemplate(folder, names, tokenizerConfig);
  if (typeof template !== 'string') {
    throw new CheckpointError(`${folder} has no chat template`, {
      hint: 'tokenizer_config.json or chat_template.json must hold the key chat_template',
    });
  }
  const processor = parseProcessorConfig(processorJson, path('preprocessor_config.json'));
  requireOneGeometry(config, processor, path('preprocessor_config.json'));
  const bpe = new BpeTokenizer(tokenizer, tokenizerConfig, config, path('tokenizer.json'));
  const chatTemplate = new ChatTemplate(template, `the chat template of ${folder}`);
  requireImagePlace(chatTemplate, bpe, config, folder);
  return {
    config,
    tokenizer: bpe,
    processor,
    chatTemplate,
    folder,
    files: {
      tokenizer,
      tokenizerConfig: { ...tokenizerConfig, chat_template: template },
      generationConfig: names.includes('generation_config.json')
        ? await readJsonFile(path('generation_config.json'))
        : undefined,
    },
  };
}

/** The three places where Hugging Face has kept it, newest first. */
async function readChatTemplate(
  folder: string,
  names: readonly string[],
  tokenizerConfig: Record<string, unknown>,
): Promise<unknown> {
  if (names.includes('chat_template.jinja')) {
    try {
      return await readFile(join(folder, 'chat_template.jinja'), 'utf8');
    } catch (error) {
      throw asStorageError(error, `reading ${join(folder, 'chat_template.jinja')}`);
    }
  }
  if (!names.includes('chat_template.json')) return tokenizerConfig.chat_template;
  return (await readJsonObject(join(folder, 'chat_template.json'))).chat_template;
}

async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const json = await readJsonFile(path);
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new CheckpointError(`${path} must hold a JSON object, got ${JSON.stringify(json)?.slice(0, 40)}`);
}

/** Pictures are cut by the processor's sizes and read by the vision tower's: they must be the same. */
function requireOneGeometry(
  { vision }: ModelConfig,
  { patchSize, temporalPatchSize, mergeSize, maxPixels }: ImageProcessorConfig,
  origin: string,
): void {
  const pairs: [string, number, number][] = [
    ['patch_size', patchSize, vision.patchSize],
    ['temporal_patch_size', temporalPatchSize, vision.temporalPatchSize],
    ['merge_size', mergeSize, vision.spatialMergeSize],
  ];
  const problems = pairs.flatMap(([name, got, wanted]) =>
    got === wanted ? [] : [`  ${name} is ${got}, config.json says ${wanted}`],
  );
  const least = (patchSize * mergeSize) ** 2;
  if (maxPixels < least) problems.push(`  max_pixels ${maxPixels} is less than one image token, ${least}`);
  if (problems.length > 0) {
    throw new CheckpointError(`${origin} does not fit the model:\n${problems.join('\n')}`, {
      hint: 'preprocessor_config.json and config.json must come from the same model',
    });
  }
}

/** The template must run, and turn one image into one place for it. */
function requireImagePlace(
  template: ChatTemplate,
  tokenizer: BpeTokenizer,
  { tokens }: ModelConfig,
  folder: string,
): void {
  const text = template.render([{ role: 'user', content: [{ type: 'image' }, { type: 'text', text: 'x' }] }]);
  const places = tokenizer.encode(text).filter((id) => id === tokens.imagePad).length;
  if (places !== 1) {
    throw new CheckpointError(
      `the chat template of ${folder} gives one image ${places} places (token ${tokens.imagePad}), it must be 1`,
      { hint: 'the template, tokenizer.json and config.json must come from the same model' },
    );
  }
}

/** CheckpointError unless a folder is a usable model with weights, which are not read. Quick. */
export async function requireModelFolder(folder: string): Promise<void> {
  const { config } = await loadModelFormat(folder);
  const files = await openWeights(folder);
  try {
    locateWeights(files, config, folder);
  } finally {
    for (const file of files) await file.close();
  }
}

/** Loads a Hugging Face Qwen2.5-VL folder: F32, F16 or BF16 weights in one file or in shards. */
export async function loadModel(folder: string): Promise<VisionLanguageModel> {
  const format = await loadModelFormat(folder);
  const values = await readWeights(folder, format.config);
  return { ...format, parameters: loadParameters(format.config, values, folder) };
}

/** A model of this format with the given values, for example `initialValues`. */
export function createModel(
  format: ModelFormat,
  values: ReadonlyMap<string, TensorData>,
): VisionLanguageModel {
  return { ...format, parameters: loadParameters(format.config, values, 'the initial values') };
}

/**
 * Writes a Hugging Face folder. Every file appears whole or not at all; the weights come last, so a folder
 * with weights is complete.
 */
export async function saveModel(
  model: VisionLanguageModel,
  folder: string,
  options: { dtype?: 'F32' | 'BF16'; metadata?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const dtype = options.dtype ?? 'BF16';
  const files: [string, unknown][] = [
    ['config.json', { ...model.config.source, torch_dtype: dtype === 'BF16' ? 'bfloat16' : 'float32' }],
    ['tokenizer.json', model.files.tokenizer],
    ['tokenizer_config.json', model.files.tokenizerConfig],
    ['preprocessor_config.json', model.processor.source],
    ['generation_config.json', model.files.generationConfig],
  ];
  for (const [name, content] of files) {
    if (content !== undefined) {
      await writeFileAtomic(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
    }
  }
  await writeSafetensors(join(folder, 'model.safetensors'), await exportParameters(model.parameters), {
    dtype,
    metadata: { format: 'pt', ...options.metadata },
  });
}

/** Metadata strings of model.safetensors, for example the recipe and the step that made it. */
export async function readModelMetadata(folder: string): Promise<Readonly<Record<string, string>>> {
  const file = await SafetensorsFile.open(join(folder, 'model.safetensors'));
  await file.close();
  return file.metadata;
}

/** All tensors by canonical name. Shapes are checked from the headers, before any weight is read. */
export async function readWeights(folder: string, config: ModelConfig): Promise<Map<string, TensorData>> {
  const files = await openWeights(folder);
  try {
    const sources = locateWeights(files, config, folder);
    const values = new Map<string, TensorData>();
    for (const name of parameterShapes(config).keys()) {
      const source = sources.get(name)!;
      values.set(name, await source.file.read(source.name));
    }
    requireFinite(values, folder);
    return values;
  } finally {
    for (const file of files) await file.close();
  }
}

async function openWeights(folder: string): Promise<SafetensorsFile[]> {
  const files: SafetensorsFile[] = [];
  try {
    for (const name of await weightFiles(folder)) files.push(await SafetensorsFile.open(join(folder, name)));
  } catch (error) {
    for (const file of files) await file.close();
    throw error;
  }
  return files;
}

interface TensorSource {
  file: SafetensorsFile;
  name: string;
  shape: number[];
}

/** Where each parameter of the configuration lies, by canonical name. CheckpointError unless all fit. */
function locateWeights(
  files: readonly SafetensorsFile[],
  config: ModelConfig,
  folder: string,
): Map<string, TensorSource> {
  const sources = new Map<string, TensorSource>();
  for (const file of files) {
    for (const [name, { shape }] of file.tensors) {
      const canonical = canonicalName(name);
      if (sources.has(canonical)) throw new CheckpointError(`${folder} holds tensor "${canonical}" twice`);
      sources.set(canonical, { file, name, shape });
    }
  }
  // Some tools store the tied head a second time; it is the embedding and is not a parameter of its own.
  if (config.text.tieWordEmbeddings) sources.delete('lm_head.weight');
  checkParameters(config, sources, folder);
  return sources;
}

/** A NaN among the weights would make every score NaN, far from its cause. */
function requireFinite(values: ReadonlyMap<string, TensorData>, folder: string): void {
  const bad: string[] = [];
  for (const [name, { data }] of values) {
    let count = 0;
    for (let i = 0; i < data.length; i++) if (!Number.isFinite(data[i])) count++;
    if (count > 0) bad.push(`  ${name}: ${count} of ${data.length}`);
  }
  if (bad.length === 0) return;
  const shown = bad.slice(0, 5).join('\n');
  throw new CheckpointError(
    `${folder} holds weights that are NaN or infinite, in ${bad.length} tensor(s):\n${shown}`,
    { hint: 'the file is damaged or its training diverged: take another checkpoint' },
  );
}

async function weightFiles(folder: string): Promise<string[]> {
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.safetensors'));
  if (names.includes('model.safetensors')) return ['model.safetensors'];
  const shards = names.filter((name) => /^model-\d+-of-\d+\.safetensors$/.test(name)).sort();
  if (shards.length > 0) return shards;
  throw new CheckpointError(`${folder} has no model.safetensors and no shards of it`, {
    hint: 'give a folder with weights; the presets in models/ without weights must be trained first',
  });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw asMissing(error, folder) ?? asStorageError(error, `reading model folder ${folder}`);
  }
}
