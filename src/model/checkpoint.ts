import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, CheckpointError } from '../core/index.ts';
import type { TensorData } from '../formats/index.ts';
import { ChatTemplate } from './chat-template.ts';
import {
  requireImagePlace,
  requireModelFiles,
  requireOneGeometry,
  requireTextPlace,
} from './checkpoint-checks.ts';
import { namesIn } from './checkpoint-files.ts';
import {
  type AnyModelConfig,
  type ModelConfig,
  parseAnyModelConfig,
  readJsonFile,
  type TextModelConfig,
} from './config.ts';
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

interface CommonFormat {
  tokenizer: BpeTokenizer;
  chatTemplate: ChatTemplate;
  folder: string;
  /** Where the weights under an adapter come from; absent in a model of its own. */
  base?: string;
  files: FolderFiles;
}

/** A model folder without its weights: all that prompts, images and parameter shapes need. */
export interface ModelFormat extends CommonFormat {
  config: ModelConfig;
  processor: ImageProcessorConfig;
}

/** The same of a language model without a vision tower. */
export interface TextModelFormat extends CommonFormat {
  config: TextModelConfig;
  processor: null;
}

/** `processor` tells the two apart. */
export type AnyModelFormat = ModelFormat | TextModelFormat;

export interface VisionLanguageModel extends ModelFormat {
  parameters: Parameters;
}

export interface TextModel extends TextModelFormat {
  parameters: Parameters;
}

export type AnyModel = VisionLanguageModel | TextModel;

/** Reads everything but the weights of a Hugging Face folder of any family; adapters are not looked for. */
export async function readModelFolder(folder: string): Promise<AnyModelFormat> {
  const path = (name: string) => join(folder, name);
  const names = await namesIn(folder);
  requireModelFiles(folder, names);
  const config = parseAnyModelConfig(await readJsonFile(path('config.json')), path('config.json'));
  const tokenizer = await readJsonFile(path('tokenizer.json'));
  const tokenizerConfig = await readJsonObject(path('tokenizer_config.json'));
  const looks = await readLooks(config, folder, names);
  const template = await readChatTemplate(folder, names, tokenizerConfig);
  const bpe = new BpeTokenizer(tokenizer, tokenizerConfig, config, path('tokenizer.json'));
  const chatTemplate = new ChatTemplate(template, `the chat template of ${folder}`);
  if (config.vision === null) requireTextPlace(chatTemplate, bpe, folder);
  else requireImagePlace(chatTemplate, bpe, config, folder);
  return {
    ...looks,
    tokenizer: bpe,
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

/** How a model looks at pictures, beside the configuration that it must fit; a language model has no such files. */
async function readLooks(
  config: AnyModelConfig,
  folder: string,
  names: readonly string[],
): Promise<Pick<ModelFormat, 'config' | 'processor'> | Pick<TextModelFormat, 'config' | 'processor'>> {
  if (config.vision === null) return { config, processor: null };
  const [file, json] = await readProcessor(folder, names);
  const processor = parseProcessorConfig(json, join(folder, file));
  requireOneGeometry(config, processor, join(folder, file));
  return { config, processor };
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

/** A model of this format with the given values, for example `initialValues`. */
export function createModel<Format extends AnyModelFormat>(
  format: Format,
  values: ReadonlyMap<string, TensorData>,
): Format & { parameters: Parameters } {
  return { ...format, parameters: loadParameters(format.config, values, 'the initial values') };
}
