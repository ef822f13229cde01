/** Encodes graphs as ONNX protobuf (onnx.proto, IR version 9, operator set 20 and com.microsoft 1). */
import Long from 'long';
import onnxProto, { type onnx } from 'onnx-proto';
import type { ValueType } from './dtype.ts';
import { ONNX_TYPE } from './dtype.ts';
import type { CollectedGraph } from './graph-key.ts';
import { type GraphValue, MICROSOFT_DOMAIN, type Operation, type OperationAttribute } from './node.ts';

const IR_VERSION = 9;
const OPSET_VERSION = 20;

/** AttributeProto.AttributeType codes of the ONNX specification. */
const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, graph: 5, floats: 6, ints: 7 } as const;

/** The name under which a collected value appears in the encoded graph. */
export type ValueNamer = (value: GraphValue) => string;

export const nameByIndex: ValueNamer = (value) => `v${value.index}`;

/** A model's bytes from its graph. */
export function encodeModel(graph: onnx.IGraphProto): Uint8Array {
  return onnxProto.onnx.ModelProto.encode({
    irVersion: IR_VERSION,
    opsetImport: [
      { domain: '', version: OPSET_VERSION },
      { domain: MICROSOFT_DOMAIN, version: 1 },
    ],
    graph,
  }).finish();
}

export interface EncodeOptions {
  nameOf?: ValueNamer;
  /** Extents to declare for an input or output; a name stands for one known only when the graph runs. */
  dimsOf?: (value: GraphValue) => readonly (number | string)[];
}

/** The whole collected graph, leaves and placeholders as inputs and roots as outputs. */
export function encodeGraph(collected: CollectedGraph, options: EncodeOptions = {}): onnx.IGraphProto {
  const { nameOf = nameByIndex, dimsOf = (value: GraphValue) => value.shape } = options;
  const encodeInfo = (value: GraphValue): onnx.IValueInfoProto =>
    encodeValueInfo(nameOf(value), value.dtype, dimsOf(value));
  return {
    name: 'graph',
    node: collected.operations.map((operation) => encodeOperation(operation, nameOf)),
    initializer: collected.constants.map((value) => encodeConstant(value, nameOf(value))),
    input: [...collected.leaves, ...collected.placeholders].map(encodeInfo),
    output: collected.roots.map(encodeInfo),
  };
}

export function encodeOperation(operation: Operation, nameOf: ValueNamer): onnx.INodeProto {
  return {
    opType: operation.type,
    domain: operation.domain,
    input: operation.inputs.map((value) => (value === undefined ? '' : nameOf(value))),
    output: operation.outputs.map(nameOf),
    attribute: Object.entries(operation.attributes).map(([name, value]) => encodeAttribute(name, value)),
  };
}

/** @param dims extents, or a name for each extent that is only known when the graph runs */
export function encodeValueInfo(
  name: string,
  dtype: ValueType,
  dims: readonly (number | string)[],
): onnx.IValueInfoProto {
  const dim = dims.map((extent) =>
    typeof extent === 'string' ? { dimParam: extent } : { dimValue: extent },
  );
  return { name, type: { tensorType: { elemType: ONNX_TYPE[dtype], shape: { dim } } } };
}

export function encodeConstant(value: GraphValue, name: string): onnx.ITensorProto {
  const numbers = value.constant ?? [];
  const tensor: onnx.ITensorProto = { name, dataType: ONNX_TYPE[value.dtype], dims: [...value.shape] };
  if (value.dtype === 'float32') tensor.floatData = [...numbers];
  else if (value.dtype === 'float64') tensor.doubleData = [...numbers];
  else if (value.dtype === 'int64') tensor.int64Data = numbers.map((number) => Long.fromNumber(number));
  else tensor.int32Data = [...numbers];
  return tensor;
}

function encodeAttribute(name: string, value: OperationAttribute): onnx.IAttributeProto {
  if (typeof value === 'number') return { name, type: ATTRIBUTE_TYPE.int, i: value };
  if (typeof value === 'string') return { name, type: ATTRIBUTE_TYPE.string, s: Buffer.from(value) };
  if ('float' in value) return { name, type: ATTRIBUTE_TYPE.float, f: value.float };
  if ('floats' in value) return { name, type: ATTRIBUTE_TYPE.floats, floats: [...value.floats] };
  return { name, type: ATTRIBUTE_TYPE.ints, ints: [...value] };
}

/** An attribute that holds a graph: the body of a Loop or the branches of an If. */
export function encodeGraphAttribute(name: string, graph: onnx.IGraphProto): onnx.IAttributeProto {
  return { name, type: ATTRIBUTE_TYPE.graph, g: graph };
}
