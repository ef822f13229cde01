import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, CheckpointError } from '../core/index.ts';
import type { TensorData } from '../formats/index.ts';
import { ChatTemplate } from './chat-template.ts';
import { requireImagePlace, requireModelFiles, requireOneGeometry } from './checkpoint-checks.ts';
import { namesIn } from './checkpoint-files.ts';
import { loadWeights } from './checkpoint-load.ts';
import { withWeights } from './checkpoint-weights.ts';
import { type ModelConfig, parseModelConfig, readJsonFile } from './config.ts';
import { type ImageProcessorConfig, parseProcessorConfig } from './image-processor.ts';
import { loadParameters, type Parameters } from './parameters.ts';
import { BpeTokenizer } from './tokenizer.ts';

export { type SaveOptions, saveModel } from './checkpoint-save.ts';

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
  /** Where the weights under an adapter come from; absent in a model of its own. */
  base?: string;
  files: FolderFiles;
}

export interface VisionLanguageModel extends ModelFormat {
  parameters: Parameters;
}

/** Reads everything but the weights of a Hugging Face Qwen2.5-VL folder. */
export async function loadModelFormat(folder: string): Promise<ModelFormat> {
  const path = (name: string) => join(folder, name);
  const names = await namesIn(folder);
  requireModelFiles(folder, names);
  const config = parseModelConfig(await readJsonFile(path('config.json')), path('config.json'));
  const tokenizer = await readJsonFile(path('tokenizer.json'));
  const tokenizerConfig = await readJsonObject(path('tokenizer_config.json'));
  const [processorFile, processorJson] = await readProcessor(folder, names);
  const template = await readChatTemplate(folder, names, tokenizerConfig);
  const processor = parseProcessorConfig(processorJson, path(processorFile));
  requireOneGeometry(config, processor, path(processorFile));
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

/** Newer transformers keep the settings for images inside those of the whole processor; they go first, as there. */
async function readProcessor(
  folder: string,
  names: readonly string[],
): Promise<[file: string, json: unknown]> {
  if (names.includes('processor_config.json')) {
    const nested = (await readJsonObject(join(folder, 'processor_config.json'))).image_processor;
    if (nested !== undefined) return ['processor_config.json', nested];
  }
  return ['preprocessor_config.json', await readJsonFile(join(folder, 'preprocessor_config.json'))];
}

/** The three places where Hugging Face has kept it, newest first. */
async function readChatTemplate(
  folder: string,
  names: readonly string[],
  tokenizerConfig: Record<string, unknown>,
): Promise<string> {
  const path = (name: string) => join(folder, name);
  if (names.includes('chat_template.jinja')) {
    try {
      return await readFile(path('chat_template.jinja'), 'utf8');
    } catch (error) {
      throw asStorageError(error, `reading ${path('chat_template.jinja')}`);
    }
  }
  const given = names.includes('chat_template.json')
    ? (await readJsonObject(path('chat_template.json'))).chat_template
    : tokenizerConfig.chat_template;
  const template = Array.isArray(given) ? defaultTemplate(given) : given;
  if (typeof template === 'string') return template;
  throw new CheckpointError(`${folder} has no chat template`, {
    hint: 'give chat_template.jinja, or the key chat_template in chat_template.json or tokenizer_config.json',
  });
}

/** Some tokenizers list several templates by name. */
const defaultTemplate = (list: readonly unknown[]): unknown =>
  (list as ({ name?: unknown; template?: unknown } | null)[]).find((one) => one?.name === 'default')
    ?.template;

async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const json = await readJsonFile(path);
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new CheckpointError(`${path} must hold a JSON object, got ${JSON.stringify(json)?.slice(0, 40)}`);
}

/** CheckpointError unless a folder is a usable model with weights, which are not read. Quick. */
export async function requireModelFolder(folder: string): Promise<void> {
  const { config } = await loadModelFormat(folder);
  await withWeights(folder, config, async () => undefined);
}

/**
 * Loads a Hugging Face Qwen2.5-VL folder: F32, F16 or BF16 weights in one file or in shards. Tensor by tensor, so
 * that it takes the memory of the weights as 32-bit floats and a few megabytes.
 */
export async function loadModel(folder: string): Promise<VisionLanguageModel> {
  const format = await loadModelFormat(folder);
  return { ...format, parameters: await loadWeights(folder, format.config) };
}

/** A model of this format with the given values, for example `initialValues`. */
export function createModel(
  format: ModelFormat,
  values: ReadonlyMap<string, TensorData>,
): VisionLanguageModel {
  return { ...format, parameters: loadParameters(format.config, values, 'the initial values') };
}
