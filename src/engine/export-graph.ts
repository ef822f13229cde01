import type * as tf from '@tensorflow/tfjs';
import type { onnx } from 'onnx-proto';
import { EngineError } from '../core/index.ts';
import { type NumericArray, ONNX_TYPE, sizeOf, type TensorType } from './dtype.ts';
import type { ExternalData } from './external-data.ts';
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
  /** Takes the large tensors: what the model then needs is this file beside it. Without it all lie inside. */
  external?: ExternalData | undefined;
  /** No operation may depend on an extent that has a name. */
  build: (inputs: Record<string, tf.Tensor>) => Record<string, tf.Tensor>;
}

/** A protobuf message holds 2 GiB; the rest is left to the operations. */
export const MOST_INLINE_BYTES = 1.9e9;

/**
 * A TensorFlow.js function as an ONNX model that ONNX Runtime runs by itself: the very operations that would run
 * here, recorded and not written a second time. Only on the backend onnx. EngineError where the tensors inside are
 * more than `MOST_INLINE_BYTES`.
 */
export function exportGraph({ inputs, parameters, outputs, external, build }: ExportSpec): Uint8Array {
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
    ...traced.graph.leaves.map((leaf) => initialiser(nameOf(leaf), leaf, leaf.data!, external)),
    ...Object.entries(traced.parameters).map(([name, value]) =>
      initialiser(name, value, values.get(name)!, external),
    ),
  ];
  requireHeld(stored);
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

function initialiser(
  name: string,
  value: GraphValue,
  data: NumericArray,
  external: ExternalData | undefined,
): onnx.ITensorProto {
  const { dtype, shape } = value;
  const rawData = new Uint8Array(data.buffer, data.byteOffset, sizeOf(shape) * data.BYTES_PER_ELEMENT);
  return (
    external?.place(name, value, data) ?? { name, dataType: ONNX_TYPE[dtype], dims: [...shape], rawData }
  );
}

function requireHeld(tensors: readonly onnx.ITensorProto[]): void {
  const bytes = tensors.reduce((sum, { rawData }) => sum + (rawData?.length ?? 0), 0);
  if (bytes <= MOST_INLINE_BYTES) return;
  throw new EngineError(
    `a graph reads ${(bytes / 1e9).toFixed(1)} GB of tensors; ${MOST_INLINE_BYTES / 1e9} GB go into an ONNX file`,
    { hint: 'write them beside the file (external data)' },
  );
}
