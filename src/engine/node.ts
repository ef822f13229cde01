/**
 * The lazy graph: operations, and the values that flow between them. A value is one of
 * - a leaf: it has `data` (written by the user, or the output of an earlier run) and is fed to the graph;
 * - a constant: few numbers embedded in the graph, part of its key;
 * - a placeholder: an input of a traced graph, to be fed later under its name;
 * - a pending result: it has a `producer` and no data yet.
 */
import type { Tensor as OrtTensor } from 'onnxruntime-node';
import type { NumericArray, TensorType, ValueType } from './dtype.ts';
import { allocate, sizeOf } from './dtype.ts';

/** A bare number must be an integer; write `{ float }` for an ONNX float attribute. */
export type OperationAttribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly floats: readonly number[] };

export type OperationAttributes = Readonly<Record<string, OperationAttribute>>;

/** The operator set of ONNX Runtime's own operators (GroupQueryAttention, FusedMatMul). */
export const MICROSOFT_DOMAIN = 'com.microsoft';

let nextId = 0;

export class GraphValue {
  readonly id = nextId++;
  readonly dtype: ValueType;
  readonly shape: readonly number[];
  producer: Operation | undefined;
  data: NumericArray | undefined;
  readonly constant: readonly number[] | undefined;
  readonly placeholder: string | undefined;
  /** Set where every element is known to be this number. */
  splat: number | undefined;
  /** The value this one merely repeats by broadcasting. */
  expandOf: GraphValue | undefined;
  /** The value this one merely converts. */
  castOf: GraphValue | undefined;
  /** `data` as ONNX Runtime takes it; built on first use and kept, since weights are fed again and again. */
  feed: OrtTensor | undefined;
  /** Why it cannot be computed: what a run for it alone threw. */
  failure: unknown;
  /** Scratch of the traversal in graph-key.ts. */
  mark = 0;
  index = 0;

  constructor(
    dtype: ValueType,
    shape: readonly number[],
    source: {
      producer?: Operation;
      data?: NumericArray;
      constant?: readonly number[];
      placeholder?: string;
    },
  ) {
    this.dtype = dtype;
    this.shape = shape;
    this.producer = source.producer;
    this.data = source.data;
    this.constant = source.constant;
    this.placeholder = source.placeholder;
    this.splat = undefined;
    this.expandOf = undefined;
    this.castOf = undefined;
    this.feed = undefined;
    this.failure = undefined;
  }
}

export interface OutputSpec {
  dtype: ValueType;
  shape: readonly number[];
}

export class Operation {
  readonly id = nextId++;
  readonly type: string;
  readonly domain: string;
  /** `undefined` stands for an optional input that is left out. */
  inputs: readonly (GraphValue | undefined)[];
  readonly attributes: OperationAttributes;
  readonly outputs: readonly GraphValue[];
  /** Everything the compiled graph depends on, save the identity of the inputs. */
  readonly signature: string;
  mark = 0;

  constructor(
    type: string,
    inputs: readonly (GraphValue | undefined)[],
    attributes: OperationAttributes,
    outputs: readonly OutputSpec[],
    domain: string,
  ) {
    this.type = type;
    this.domain = domain;
    this.inputs = inputs;
    this.attributes = attributes;
    let signature = type;
    for (const key in attributes) signature += `|${key}=${JSON.stringify(attributes[key])}`;
    for (const { dtype, shape } of outputs) signature += `>${dtype}${shape}`;
    this.signature = signature;
    this.outputs = outputs.map(({ dtype, shape }) => new GraphValue(dtype, shape, { producer: this }));
  }
}

export interface OperationOptions {
  attributes?: OperationAttributes;
  domain?: string;
}

/** Records an operation with several outputs, such as TopK (2) or GroupQueryAttention (3). */
export function operationWithOutputs(
  type: string,
  inputs: readonly (GraphValue | undefined)[],
  outputs: readonly OutputSpec[],
  options: OperationOptions = {},
): readonly GraphValue[] {
  return new Operation(type, inputs, options.attributes ?? {}, outputs, options.domain ?? '').outputs;
}

/** Records an operation with one output. A result without elements needs no operation: it is an empty leaf. */
export function operation(
  type: string,
  inputs: readonly (GraphValue | undefined)[],
  dtype: ValueType,
  shape: readonly number[],
  options: OperationOptions = {},
): GraphValue {
  if (sizeOf(shape) === 0 && dtype !== 'int64' && dtype !== 'float64')
    return leaf(dtype, shape, allocate(dtype, 0));
  return operationWithOutputs(type, inputs, [{ dtype, shape }], options)[0]!;
}

export function leaf(dtype: TensorType, shape: readonly number[], data: NumericArray): GraphValue {
  return new GraphValue(dtype, shape, { data });
}

export function placeholder(name: string, dtype: TensorType, shape: readonly number[]): GraphValue {
  return new GraphValue(dtype, shape, { placeholder: name });
}

const MAX_SHARED_CONSTANTS = 4096;
const sharedConstants = new Map<string, GraphValue>();

/** Numbers embedded in the graph. Equal constants are one value, so that the graph holds each once. */
export function constant(dtype: ValueType, shape: readonly number[], numbers: readonly number[]): GraphValue {
  const key = `${dtype}|${shape}|${numbers.length === 1 && Object.is(numbers[0], -0) ? '-0' : numbers}`;
  let value = sharedConstants.get(key);
  if (value === undefined) {
    value = new GraphValue(dtype, shape, { constant: numbers });
    if (numbers.length === 1) value.splat = numbers[0];
    if (sharedConstants.size >= MAX_SHARED_CONSTANTS) sharedConstants.clear();
    sharedConstants.set(key, value);
  }
  return value;
}

/** A literal of the engine's own formulas: embedded, because it never changes. */
export function literal(dtype: ValueType, number: number): GraphValue {
  return constant(dtype, [], [number]);
}

/** Shapes, axes and offsets, which ONNX takes as int64 vectors. */
export function int64Vector(numbers: readonly number[]): GraphValue {
  return constant('int64', [numbers.length], numbers);
}

/**
 * A number that came from the caller. It becomes a graph input, so that a learning-rate schedule does not
 * compile a new graph each step; only 0 and 1 are embedded, because they allow simplifications.
 */
export function scalar(dtype: TensorType, number: number, shape: readonly number[] = []): GraphValue {
  if (Object.is(number, 0) || number === 1) return constant(dtype, shape, [number]);
  const data = allocate(dtype, 1);
  data[0] = number;
  const value = leaf(dtype, shape, data);
  value.splat = data[0];
  return value;
}
