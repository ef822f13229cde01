import { setImmediate } from 'node:timers/promises';
import { type Completion, ConfigError, InputError, type Rng } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import { CompletionCollector } from './generate-completions.ts';
import { STEPS_PER_RUN } from './generate-decoding.ts';
import { checkSampling, neverSampledTokenIds, type Sampling } from './generate-sampling.ts';
import {
  contextTensors,
  endIdsOf,
  type GeneratingModel,
  rowsOf,
  type StartOptions,
  startDecoding,
} from './generate-start.ts';
import { collate, type Sequence, visionTokenIds } from './sequence.ts';

/** Far beyond what a machine runs at once: a slip is named before memory is asked for. */
const MOST_ROWS = 2 ** 16;

export interface GenerateOptions extends StartOptions {
  /** Completions of each prompt. The prompt itself is run once. Default 1. */
  samplesPerPrompt?: number;
  /** Logits are divided by this; 0 always takes the most probable token. */
  temperature: number;
  /** Draw only from the most probable tokens that together reach this probability. Default 1: from all. */
  topP?: number;
  /** Draw only from so many most probable tokens, and those as probable as the last of them. Default: from all. */
  topK?: number;
  /** Above 1 makes tokens that the prompt or the answer holds less probable (`Sampling`). Default 1. */
  repetitionPenalty?: number;
  /** Source of the draws. One number is taken from it; each row's draws depend on that number and its place. */
  rng: Rng;
  /** In addition to those that are never sampled (`neverSampledTokenIds`); stop tokens among them are banned. */
  bannedTokenIds?: readonly number[];
  /** Checked every 64 tokens; generation then throws the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Samples completions of prompts of any lengths, `samplesPerPrompt` for each prompt, with cached keys and
 * values. The log-probabilities are those of the training forward pass at this temperature over all tokens
 * not banned; top-k, top-p and the repetition penalty shape the draw but not the reported number. Greedy decoding
 * reports temperature 1. The model folder's generation_config.json is not applied: what is not asked for is not done.
 *
 * ConfigError for impossible options, InputError for prompts that leave no room, EngineError when the model
 * gives no usable probabilities.
 */
export async function generate(
  model: GeneratingModel,
  prompts: readonly Sequence[],
  options: GenerateOptions,
): Promise<Completion[][]> {
  const { samplesPerPrompt = 1, maxNewTokens, signal } = options;
  const sampling = samplingOf(model, options);
  checkCount('samplesPerPrompt', samplesPerPrompt);
  checkCount('maxNewTokens', maxNewTokens);
  if (prompts.length * samplesPerPrompt > MOST_ROWS)
    throw new ConfigError(
      `${prompts.length} prompts with ${samplesPerPrompt} samples each are more than ${MOST_ROWS} answers at a time`,
      { hint: 'generate them in several calls' },
    );
  const maxLength = model.config.text.maxPositions - maxNewTokens;
  if (maxLength < 1)
    throw new InputError(
      `${maxNewTokens} new tokens leave no room in ${model.config.text.maxPositions} positions`,
    );
  signal?.throwIfAborted();
  const streamSeed = options.rng.uint32();
  if (prompts.length === 0) return [];

  const batch = collate(prompts, model.config, { maxLength });
  const rows = rowsOf(batch.size, samplesPerPrompt);
  const streams = Array.from({ length: rows.used }, (_, row) =>
    options.rng.fork(streamSeed, rows.prompts[row]!, row % samplesPerPrompt),
  );
  const uniformsFor = (steps: number): Float32Array => drawUniforms(streams, steps, rows.size, sampling);
  const collector = new CompletionCollector(model.tokenizer, rows.used, endIdsOf(model.tokenizer, options));
  const started = startDecoding(model, batch, rows, sampling, options, uniformsFor(1));
  const { context, decoder } = started;
  try {
    let done = collector.add(1, rows.size, started.tokens, started.logProbabilities);
    for (let made = 1; made < maxNewTokens && !done; ) {
      await setImmediate();
      signal?.throwIfAborted();
      const wanted = Math.min(STEPS_PER_RUN, maxNewTokens - made);
      const { steps, tokens, logProbabilities } = await decoder.advance(uniformsFor(wanted), wanted);
      done = collector.add(steps, rows.size, tokens, logProbabilities);
      made += steps;
    }
  } finally {
    decoder.dispose();
    tf.dispose(contextTensors(context));
  }
  const completions = collector.completions();
  return prompts.map((_, i) => completions.slice(i * samplesPerPrompt, (i + 1) * samplesPerPrompt));
}

function samplingOf(model: GeneratingModel, options: GenerateOptions): Sampling {
  const { temperature, topP = 1, topK, repetitionPenalty, bannedTokenIds = [], stopTokenIds = [] } = options;
  const { vocabularySize } = model.config.text;
  requireIds('bannedTokenIds', bannedTokenIds, vocabularySize);
  requireIds('stopTokenIds', stopTokenIds, Math.min(vocabularySize, model.tokenizer.vocabularySize));
  const pictures = visionTokenIds(model.config);
  const picture = stopTokenIds.find((id) => pictures.includes(id));
  if (picture !== undefined)
    throw new ConfigError(`stopTokenIds holds ${picture}, which stands for pictures and is never drawn`);
  const never = neverSampledTokenIds(model.config, model.tokenizer, stopTokenIds);
  const banned = [...new Set([...never, ...bannedTokenIds])];
  if (banned.filter((id) => id < vocabularySize).length === vocabularySize)
    throw new ConfigError('bannedTokenIds leaves no token to draw', { hint: 'ban fewer tokens' });
  const sampling: Sampling = { temperature, topP, topK, repetitionPenalty, bannedTokenIds: banned };
  checkSampling(sampling);
  return sampling;
}

/**
 * [steps, B], multiples of 2^-24 from 2^-24 to 1 - 2^-24, exact as float32: at 0 a draw would give the first
 * token of the vocabulary however improbable, and at 1 none. Rows that fill up the batch get 0.
 */
function drawUniforms(
  streams: readonly Rng[],
  steps: number,
  size: number,
  sampling: Sampling,
): Float32Array {
  const uniforms = new Float32Array(steps * size);
  if (sampling.temperature === 0) return uniforms;
  streams.forEach((stream, row) => {
    for (let step = 0; step < steps; step++)
      uniforms[step * size + row] = ((stream.uint32() >>> 9) + 0.5) / 2 ** 23;
  });
  return uniforms;
}

function checkCount(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1)
    throw new ConfigError(`${name} is ${value}, allowed is a whole number from 1 on`);
}

function requireIds(name: string, ids: readonly number[], vocabulary: number): void {
  const bad = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabulary);
  if (bad !== undefined)
    throw new ConfigError(`${name} holds ${bad}, allowed are token ids from 0 to ${vocabulary - 1}`);
}
