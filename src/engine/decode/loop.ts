import * as tf from '@tensorflow/tfjs';
import { Tensor as OrtTensor } from 'onnxruntime-node';
import { EngineError } from '../../core/index.ts';
import { currentBackend, type OnnxBackend } from '../backend.ts';
import { cast } from '../build.ts';
import type { NumericArray, TensorType } from '../dtype.ts';
import { collectGraph } from '../graph-key.ts';
import { feedOf } from '../graph-runner.ts';
import type { Feeds } from '../native-binding.ts';
import { GraphValue, leaf, placeholder } from '../node.ts';
import {
  emittedName,
  encodeLoop,
  finalName,
  ITERATION,
  initialName,
  leafName,
  MAX_ITERATIONS,
  type TracedLoop,
} from './encode-loop.ts';

/** What one iteration makes of the state. */
export interface LoopStep {
  /** The next state: as many tensors, of the types and shapes, as went in (but for growing axes). */
  state: tf.Tensor[];
  /** Collected from every iteration. */
  emitted: tf.Tensor[];
  /** bool scalar; the loop ends after the first iteration in which it is false. */
  proceed: tf.Tensor;
}

export interface LoopOptions {
  state: readonly tf.Tensor[];
  /** For each state the axis along which its extent changes from iteration to iteration, or -1. Default none. */
  growingAxes?: readonly number[];
  /** At least 1. Not part of the compiled graph. */
  maxIterations: number;
  /** `iteration` counts from 0, int32. Recorded once, not run: it may not read tensors. Values of outer tensors may differ in each call. */
  body: (state: tf.Tensor[], iteration: tf.Scalar) => LoopStep;
}

export interface LoopResult {
  /** The state after the last iteration. */
  state: tf.Tensor[];
  /** [iterations, ...] for each emitted tensor. */
  emitted: tf.Tensor[];
}

/**
 * Runs a body again and again inside one ONNX graph, without coming back to JavaScript between iterations.
 * The graph is compiled once per structure of the body; tensors from outside, such as weights, are fed.
 * Only on the backend onnx.
 */
export function runLoop(options: LoopOptions): LoopResult {
  const { state, maxIterations } = options;
  if (!Number.isInteger(maxIterations) || maxIterations < 1)
    throw new EngineError(`a loop runs a whole number of times from 1 on, got ${maxIterations}`);
  const backend = currentBackend();
  const growingAxes = options.growingAxes ?? state.map(() => -1);
  const loop = traceLoop(backend, state, growingAxes, options.body);
  const feeds: Feeds = {
    [MAX_ITERATIONS]: new OrtTensor('int64', BigInt64Array.of(BigInt(maxIterations)), []),
  };
  state.forEach((tensor, i) => {
    feeds[initialName(i)] = backend.feed(tensor);
  });
  loop.graph.leaves.forEach((value, i) => {
    feeds[leafName(i)] = feedOf(value);
  });
  const finals = state.map((_, i) => finalName(i));
  const collected = loop.emitted.map((_, i) => emittedName(i));
  const results = backend.runner.runModel(
    `loop;${growingAxes};${wiring(loop)};${loop.graph.key}`,
    () => ({ model: encodeLoop(loop), operations: loop.graph.operations.length }),
    feeds,
    [...finals, ...collected],
  );
  const tensor = (name: string): tf.Tensor => {
    const { type, dims, data } = results[name]!;
    const value = leaf(type as TensorType, [...dims], data as NumericArray);
    return tf.engine().makeTensorFromTensorInfo(backend.tensorInfoOf(value));
  };
  return { state: finals.map(tensor), emitted: collected.map(tensor) };
}

function traceLoop(
  backend: OnnxBackend,
  initial: readonly tf.Tensor[],
  growingAxes: readonly number[],
  body: LoopOptions['body'],
): TracedLoop {
  // An extent that changes is recorded as 1: no operation of the body may depend on it.
  const state = initial.map(({ dtype, shape }, i) =>
    placeholder(
      `state_${i}`,
      dtype as TensorType,
      shape.map((extent, axis) => (axis === growingAxes[i] ? 1 : extent)),
    ),
  );
  const traced: Pick<TracedLoop, 'next' | 'emitted' | 'proceed'>[] = [];
  backend.whileTracing(new Map(), () => {
    tf.tidy(() => {
      const tensorOf = (value: GraphValue): tf.Tensor =>
        tf.engine().makeTensorFromTensorInfo(backend.tensorInfoOf(value));
      const iteration = cast(new GraphValue('int64', [], { placeholder: ITERATION }), 'int32');
      const step = body(state.map(tensorOf), tensorOf(iteration) as tf.Scalar);
      const graphValueOf = (tensor: tf.Tensor): GraphValue => backend.graphValue(tensor);
      traced.push({
        next: step.state.map(graphValueOf),
        emitted: step.emitted.map(graphValueOf),
        proceed: graphValueOf(step.proceed),
      });
    });
  });
  const outputs = traced[0]!;
  checkState(state, outputs.next);
  const graph = collectGraph([...new Set([...outputs.next, ...outputs.emitted, outputs.proceed])]);
  return { graph, state, growingAxes, ...outputs };
}

function checkState(before: readonly GraphValue[], next: readonly GraphValue[]): void {
  if (next.length !== before.length)
    throw new EngineError(
      `the loop body turned ${before.length} state tensors into ${next.length}; the numbers must agree`,
    );
  next.forEach((value, i) => {
    const { dtype, shape } = before[i]!;
    if (value.dtype !== dtype || `${value.shape}` !== `${shape}`)
      throw new EngineError(
        `loop state ${i} is ${dtype} [${shape}] and becomes ${value.dtype} [${value.shape}]`,
        { hint: 'the body must keep types and shapes; name an axis that grows in growingAxes' },
      );
  });
}

/** Which value serves as which output; the graph's own key does not tell. */
function wiring({ next, emitted, proceed }: TracedLoop): string {
  const indices = (values: readonly GraphValue[]): string => values.map((value) => value.index).join();
  return `${indices(next)}/${indices(emitted)}/${proceed.index}`;
}
