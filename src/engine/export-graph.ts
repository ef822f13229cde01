import type * as tf from '@tensorflow/tfjs';
import type { onnx } from 'onnx-proto';
import { type NumericArray, ONNX_TYPE, sizeOf, type TensorType } from './dtype.ts';
import type { GraphValue } from './node.ts';
import { encodeGraph, encodeModel, encodeValueInfo, nameByIndex } from './onnx-encode.ts';
import { traceGraph } from './trace.ts';

/** Extents; a name stands for one that is known only when the graph runs. It is recorded as 1. */
export type ExportDims = readonly (number | string)[];

export interface ExportSpec {
  inputs: Readonly<Record<string, { dtype: TensorType; dims: ExportDims }>>;
  /** Weights by the names they shall have in the file. Other tensors that `build` reads are stored without a name. */
  parameters: ReadonlyMap<string, tf.Tensor>;
  /** Names and extents of the results. */
  outputs: Readonly<Record<string, ExportDims>>;
  /** No operation may depend on an extent that has a name. */
  build: (inputs: Record<string, tf.Tensor>) => Record<string, tf.Tensor>;
}

/**
 * A TensorFlow.js function as an ONNX model that ONNX Runtime runs by itself, weights inside: the very operations
 * that would run here, recorded and not written a second time. Only on the backend onnx.
 */
export function exportGraph({ inputs, parameters, outputs, build }: ExportSpec): Uint8Array {
  const values = new Map([...parameters].map(([name, tensor]) => [name, tensor.dataSync() as NumericArray]));
  const traced = traceGraph({
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([name, { dtype, dims }]) => [
        name,
        { dtype, shape: dims.map((extent) => (typeof extent === 'string' ? 1 : extent)) },
      ]),
    ),
    parameters: Object.fromEntries(parameters),
    build,
  });
  const names = new Map<GraphValue, string>();
  for (const [name, value] of Object.entries(traced.outputs))
    if (value.producer !== undefined) names.set(value, name);
  const nameOf = (value: GraphValue): string => value.placeholder ?? names.get(value) ?? nameByIndex(value);
  const graph = encodeGraph(traced.graph, { nameOf });
  const stored = [
    ...traced.graph.leaves.map((leaf) => initialiser(nameOf(leaf), leaf, leaf.data!)),
    ...Object.entries(traced.parameters).map(([name, value]) => initialiser(name, value, values.get(name)!)),
  ];
  return encodeModel({
    ...graph,
    initializer: [...(graph.initializer ?? []), ...stored],
    input: Object.entries(inputs).map(([name, { dtype, dims }]) => encodeValueInfo(name, dtype, dims)),
    output: Object.entries(outputs).map(([name, dims]) =>
      encodeValueInfo(name, traced.outputs[name]!.dtype, dims),
    ),
    node: [
      ...(graph.node ?? []),
      // What serves as several outputs is copied.
      ...Object.entries(traced.outputs)
        .filter(([name, value]) => nameOf(value) !== name)
        .map(([name, value]) => ({ opType: 'Identity', input: [nameOf(value)], output: [name] })),
    ],
  });
}

function initialiser(name: string, { dtype, shape }: GraphValue, data: NumericArray): onnx.ITensorProto {
  const rawData = new Uint8Array(data.buffer, data.byteOffset, sizeOf(shape) * data.BYTES_PER_ELEMENT);
  return { name, dataType: ONNX_TYPE[dtype], dims: [...shape], rawData };
}
