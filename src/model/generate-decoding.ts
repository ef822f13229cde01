import { cachedAttention, type KeyValueCache, runLoop, type SharedPrefix, tf } from '../engine/index.ts';
import { remembersTokens } from './generate-sampling.ts';
import {
  type DecodeContext,
  decodeStep,
  type RowState,
  type StepResult,
  stateTensors,
  tidyKeeping,
} from './generate-step.ts';
import { attention } from './layers.ts';

/** Tokens and log-probabilities of some steps, [steps, B] each, step by step. */
export interface DecodedSteps {
  steps: number;
  tokens: Int32Array;
  logProbabilities: Float32Array;
  allFinished: boolean;
}

/** Continues a generation by some steps, and holds its state between calls. */
export interface Decoder {
  /** @param uniforms [steps, B] */
  advance(uniforms: Float32Array, steps: number): Promise<DecodedSteps>;
  dispose(): void;
}

/** Steps that the captured loop's table of uniforms has room for; more are run in several calls. */
export const STEPS_PER_RUN = 64;

/**
 * Decoding inside one compiled loop. The prompts' keys and values stay as they are; those of new tokens grow
 * beside them. Takes the tensors over.
 *
 * @param prompts caches of P padded prompts, each for B / P neighbouring rows @param promptLengths [P]
 */
export function capturedDecoder(
  context: DecodeContext,
  start: RowState,
  prompts: KeyValueCache[],
  promptLengths: Int32Array,
): Decoder {
  const [, keyValueHeads, padded, headSize] = prompts[0]!.keys.shape;
  const mask = tf.tidy(() =>
    tf.reshape(cacheMask(promptLengths, padded, 0), [promptLengths.length, 1, 1, padded]),
  ) as tf.Tensor4D;
  const prefixes = prompts.map((cache): SharedPrefix => ({ ...cache, mask }));
  const empty = (): tf.Tensor => tf.zeros([context.size, keyValueHeads, 0, headSize]);
  let state: tf.Tensor[] = [...stateTensors(start), ...prompts.flatMap(() => [empty(), empty()])];
  const growingAxes = [...stateTensors(start).map(() => -1), ...prompts.flatMap(() => [2, 2])];
  return {
    async advance(uniforms, steps) {
      const table = new Float32Array(STEPS_PER_RUN * context.size);
      table.set(uniforms.subarray(0, steps * context.size));
      const { state: next, emitted } = tidyKeeping(
        () => {
          const uniformTable = tf.tensor2d(table, [STEPS_PER_RUN, context.size]);
          return runLoop({
            state,
            growingAxes,
            maxIterations: steps,
            body: (inputs, iteration) => {
              const uniforms = tf.gather(uniformTable, tf.reshape(iteration, [1]));
              return loopBody(context, prefixes, inputs, tf.reshape(uniforms, [context.size]));
            },
          });
        },
        (result) => [...result.state, ...result.emitted],
      );
      tf.dispose(state);
      state = next;
      const [tokens, logProbabilities] = emitted as [tf.Tensor2D, tf.Tensor2D];
      const result = {
        steps: tokens.shape[0],
        tokens: tokens.dataSync() as Int32Array,
        logProbabilities: logProbabilities.dataSync() as Float32Array,
        allFinished: (state[1]!.dataSync() as Int32Array).every((flag) => flag === 1),
      };
      tf.dispose([tokens, logProbabilities]);
      return result;
    },
    dispose: () => tf.dispose([...state, mask, ...cacheTensors(prompts)]),
  };
}

function loopBody(
  context: DecodeContext,
  prefixes: readonly SharedPrefix[],
  inputs: tf.Tensor[],
  uniforms: tf.Tensor1D,
) {
  const [tokens, finished, lengths, ...rest] = inputs as [
    tf.Tensor1D,
    tf.Tensor1D,
    tf.Tensor1D,
    ...tf.Tensor4D[],
  ];
  const remembers = remembersTokens(context.sampling);
  const seen = remembers ? (rest[0] as tf.Tensor as tf.Tensor2D) : undefined;
  const caches = remembers ? rest.slice(1) : rest;
  const grown: tf.Tensor4D[] = [];
  const result = decodeStep(context, { tokens, finished, lengths, seen }, uniforms, (layer, q, k, v) => {
    const recent = { keys: caches[2 * layer]!, values: caches[2 * layer + 1]! };
    const attended = cachedAttention(q, k, v, prefixes[layer]!, recent);
    grown.push(attended.recent.keys, attended.recent.values);
    return attended.mixed;
  });
  const { state } = result;
  return {
    state: [...stateTensors(state), ...grown],
    emitted: [state.tokens, result.logProbabilities],
    proceed: tf.equal(tf.min(state.finished), tf.scalar(0, 'int32')),
  };
}

/**
 * Decoding step by step with composed attention, on any backend. New keys and values go behind the padded
 * prompts, and a mask hides the padding. Takes the tensors over.
 */
export function stepwiseDecoder(
  context: DecodeContext,
  start: RowState,
  caches: KeyValueCache[],
  promptLengths: Int32Array,
): Decoder {
  const { size } = context;
  const padded = caches[0]!.keys.shape[2];
  let state = start;
  let kept = caches;
  let generated = 0;

  const step = (uniforms: Float32Array): StepResult & { caches: KeyValueCache[] } => {
    const mask = cacheMask(promptLengths, padded, ++generated);
    const grown: KeyValueCache[] = [];
    const result = decodeStep(context, state, tf.tensor1d(uniforms), (layer, q, k, v) => {
      const keys = tf.concat([kept[layer]!.keys, k], 2);
      const values = tf.concat([kept[layer]!.values, v], 2);
      grown[layer] = { keys, values };
      return attention(q, keys, values, mask);
    });
    return { ...result, caches: grown };
  };

  return {
    async advance(uniforms, steps) {
      const tokens = new Int32Array(steps * size);
      const logProbabilities = new Float32Array(steps * size);
      for (let i = 0; i < steps; i++) {
        const result = tidyKeeping(
          () => step(uniforms.slice(i * size, (i + 1) * size)),
          (made) => [...stateTensors(made.state), made.logProbabilities, ...cacheTensors(made.caches)],
        );
        tf.dispose([...stateTensors(state), ...cacheTensors(kept)]);
        state = result.state;
        kept = result.caches;
        tokens.set(await state.tokens.data(), i * size);
        logProbabilities.set(await result.logProbabilities.data(), i * size);
        result.logProbabilities.dispose();
        if ((await state.finished.data()).every((flag) => flag === 1)) {
          return { steps: i + 1, tokens, logProbabilities, allFinished: true };
        }
      }
      return { steps, tokens, logProbabilities, allFinished: false };
    },
    dispose: () => tf.dispose([...stateTensors(state), ...cacheTensors(kept)]),
  };
}

const cacheTensors = (caches: readonly KeyValueCache[]): tf.Tensor[] =>
  caches.flatMap(({ keys, values }) => [keys, values]);

/** [B, 1, padded + generated]: a row sees its own prompt and whatever has been generated. */
function cacheMask(promptLengths: Int32Array, padded: number, generated: number): tf.Tensor3D {
  const width = padded + generated;
  const mask = new Float32Array(promptLengths.length * width);
  promptLengths.forEach((length, row) => {
    mask.fill(-1e9, row * width + length, row * width + padded);
  });
  return tf.tensor3d(mask, [promptLengths.length, 1, width]);
}
