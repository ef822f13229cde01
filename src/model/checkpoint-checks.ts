import { CheckpointError, listNames } from '../core/index.ts';
import type { ChatTemplate } from './chat-template.ts';
import { otherWeights } from './checkpoint-files.ts';
import type { ModelConfig } from './config.ts';
import type { ImageProcessorConfig } from './image-processor.ts';
import type { BpeTokenizer } from './tokenizer.ts';

/** CheckpointError, in one sentence, for a folder that is no model; `names` are what it holds. */
export function requireModelFiles(folder: string, names: readonly string[]): void {
  if (names.includes('config.json')) return;
  const wanted = 'a model folder was expected (config.json, tokenizer.json, model.safetensors)';
  if (names.length === 0) throw new CheckpointError(`${folder} is empty: ${wanted}`);
  const other = otherWeights(names);
  if (other !== undefined) {
    throw new CheckpointError(`${folder} holds weights as ${other}: ${wanted}`, {
      hint: 'give the model in Hugging Face layout; transformers writes it with save_pretrained',
    });
  }
  if (names.includes('adapter_config.json')) {
    throw new CheckpointError(`${folder} holds an adapter (LoRA) alone: ${wanted}`, {
      hint: 'q-ponder model merge joins it with its base model',
    });
  }
  if (names.includes('model') && names.includes('checkpoints')) {
    throw new CheckpointError(`${folder} is the folder of a run: ${wanted}`, {
      hint: `give ${folder}/model, the model that the run has made`,
    });
  }
}

/** Pictures are cut by the processor's sizes and read by the vision tower's: they must be the same. */
export function requireOneGeometry(
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

const CONTROL_TOKEN = /<\|\w+\|>/g;

const ONE_MODEL = 'the template, tokenizer.json and config.json must come from the same model';

/** The template must run, and write only control tokens that the tokenizer knows. */
function requireKnownTokens(text: string, tokenizer: BpeTokenizer, folder: string): void {
  const unknown = [...new Set(text.match(CONTROL_TOKEN))].filter(
    (token) => tokenizer.tokenId(token) === undefined,
  );
  if (unknown.length > 0) {
    throw new CheckpointError(
      `the chat template of ${folder} writes ${listNames(unknown)}, which its tokenizer.json does not know`,
      { hint: ONE_MODEL },
    );
  }
}

/** The template of a language model must run, and show the text of a message. */
export function requireTextPlace(template: ChatTemplate, tokenizer: BpeTokenizer, folder: string): void {
  const probe = 'The score is 3.45.';
  const text = template.render([{ role: 'user', content: probe }]);
  requireKnownTokens(text, tokenizer, folder);
  if (!text.includes(probe)) {
    throw new CheckpointError(`the chat template of ${folder} does not show the text of a user's message`, {
      hint: ONE_MODEL,
    });
  }
}

/** The template must run, write only control tokens that the tokenizer knows, and turn one image into one place. */
export function requireImagePlace(
  template: ChatTemplate,
  tokenizer: BpeTokenizer,
  { tokens }: ModelConfig,
  folder: string,
): void {
  const text = template.render([{ role: 'user', content: [{ type: 'image' }, { type: 'text', text: 'x' }] }]);
  requireKnownTokens(text, tokenizer, folder);
  const places = tokenizer.encode(text).filter((id) => id === tokens.imagePad).length;
  if (places !== 1) {
    throw new CheckpointError(
      `the chat template of ${folder} gives one image ${places} places (token ${tokens.imagePad}), it must be 1`,
      { hint: ONE_MODEL },
    );
  }
}
