import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../core/index.ts';
import { currentBackend } from './backend.ts';
import type { TensorType } from './dtype.ts';
import { type CollectedGraph, collectGraph } from './graph-key.ts';
import { type GraphValue, placeholder } from './node.ts';
import { nameByIndex } from './onnx-encode.ts';

export interface TraceInput {
  dtype: TensorType;
  shape: readonly number[];
}

export interface TraceSpec<Inputs extends string, Outputs extends string> {
  /** What the graph is fed each time it runs. */
  inputs: Readonly<Record<Inputs, TraceInput>>;
  /**
   * Tensors the function reads that change between runs, by the name under which they are fed. Every other
   * tensor it reads is fed as it was when traced.
   */
  parameters?: Readonly<Record<string, tf.Tensor>>;
  build: (inputs: Record<Inputs, tf.Tensor>) => Record<Outputs, tf.Tensor>;
}

/** A TensorFlow.js function as a graph that has not run. */
export interface TracedGraph<Inputs extends string = string, Outputs extends string = string> {
  /** `leaves` are the captured tensors that are neither inputs nor parameters: tables, masks. */
  graph: CollectedGraph;
  inputs: Record<Inputs, GraphValue>;
  /** Only the parameters that were read. */
  parameters: Record<string, GraphValue>;
  outputs: Record<Outputs, GraphValue>;
}

/** Records what `build` computes, without running anything. */
export function traceGraph<Inputs extends string, Outputs extends string>(
  spec: TraceSpec<Inputs, Outputs>,
): TracedGraph<Inputs, Outputs> {
  const backend = currentBackend();
  const names = Object.keys(spec.inputs) as Inputs[];
  const inputs = {} as Record<Inputs, GraphValue>;
  for (const name of names)
    inputs[name] = placeholder(name, spec.inputs[name].dtype, spec.inputs[name].shape);
  const outputs = {} as Record<Outputs, GraphValue>;
  const substitutes = new Map<tf.DataId, GraphValue>();
  for (const [name, tensor] of Object.entries(spec.parameters ?? {})) {
    if (name in inputs)
      throw new EngineError(`'${name}' names both an input and a parameter of a traced graph`);
    substitutes.set(tensor.dataId, placeholder(name, tensor.dtype as TensorType, tensor.shape));
  }
  backend.whileTracing(substitutes, () =>
    tf.tidy(() => {
      const tensors = {} as Record<Inputs, tf.Tensor>;
      for (const name of names) tensors[name] = lazyTensor(inputs[name]);
      const results = spec.build(tensors);
      for (const name of Object.keys(results) as Outputs[]) outputs[name] = graphValueOf(results[name]);
    }),
  );
  const graph = collectGraph([...new Set(Object.values<GraphValue>(outputs))]);
  const read = new Set(graph.placeholders);
  const parameters: Record<string, GraphValue> = {};
  for (const value of substitutes.values()) if (read.has(value)) parameters[value.placeholder!] = value;
  return { graph, inputs, parameters, outputs };
}

/** The names of a traced graph's values: inputs and parameters keep theirs. */
export function nameTraced(value: GraphValue): string {
  return value.placeholder ?? nameByIndex(value);
}

/** The graph value behind a tensor: to build operators that TensorFlow.js does not have. */
export function graphValueOf(tensor: tf.Tensor): GraphValue {
  return currentBackend().graphValue(tensor);
}

/** A tensor for a graph value. */
export function lazyTensor(value: GraphValue): tf.Tensor {
  return tf.engine().makeTensorFromTensorInfo(currentBackend().tensorInfoOf(value));
}
