import type { onnx } from 'onnx-proto';
import { ONNX_TYPE, type ValueType } from '../dtype.ts';
import type { CollectedGraph } from '../graph-key.ts';
import type { GraphValue } from '../node.ts';
import {
  encodeConstant,
  encodeGraphAttribute,
  encodeModel,
  encodeOperation,
  encodeValueInfo,
} from '../onnx-encode.ts';

/** A traced loop body: what goes round, what is collected, and what is fed from outside. */
export interface TracedLoop {
  graph: CollectedGraph;
  /** Placeholders of the state, in order, and the values they take in the next iteration. */
  state: readonly GraphValue[];
  next: readonly GraphValue[];
  emitted: readonly GraphValue[];
  proceed: GraphValue;
  /** For each state the axis whose extent is known only when the loop runs, or -1. */
  growingAxes: readonly number[];
}

export const ITERATION = 'iteration';
export const MAX_ITERATIONS = 'max_iterations';
export const initialName = (index: number): string => `initial_${index}`;
export const finalName = (index: number): string => `final_${index}`;
export const emittedName = (index: number): string => `emitted_${index}`;
export const leafName = (index: number): string => `leaf_${index}`;

/**
 * The model of a loop: ONNX's Loop operator with the traced operations as its body. Leaves, such as weights,
 * are inputs of the outer graph that the body sees without their being copied or carried round.
 */
export function encodeLoop(loop: TracedLoop): Uint8Array {
  const { graph, state, next, emitted, growingAxes } = loop;
  const leafNames = new Map(graph.leaves.map((value, index) => [value, leafName(index)]));
  const bodyOutputs = [
    { name: 'proceed', value: loop.proceed },
    ...next.map((value, i) => ({ name: `next_${i}`, value })),
    ...emitted.map((value, i) => ({ name: `emit_${i}`, value })),
  ];
  // A result carries the name of the first output it serves as: a copy of a large one would cost much.
  const outputNames = new Map<GraphValue, string>();
  for (const { name, value } of bodyOutputs)
    if (value.producer !== undefined && !outputNames.has(value)) outputNames.set(value, name);
  const nameOf = (value: GraphValue): string =>
    value.placeholder ?? leafNames.get(value) ?? outputNames.get(value) ?? `v${value.index}`;
  const info = (name: string, value: GraphValue, index: number): onnx.IValueInfoProto =>
    encodeValueInfo(
      name,
      value.dtype,
      value.shape.map((extent, axis) => (axis === growingAxes[index] ? `${name}_extent` : extent)),
    );
  const outputs = [
    { name: 'proceed', value: loop.proceed, of: encodeValueInfo('proceed', 'bool', []) },
    ...next.map((value, i) => ({ name: `next_${i}`, value, of: info(`next_${i}`, state[i]!, i) })),
    ...emitted.map((value, i) => ({
      name: `emit_${i}`,
      value,
      of: encodeValueInfo(`emit_${i}`, value.dtype, value.shape),
    })),
  ];
  const body: onnx.IGraphProto = {
    name: 'body',
    node: [
      ...graph.operations.map((operation) => encodeOperation(operation, nameOf)),
      // What serves as several outputs, or is an input, is copied.
      ...bodyOutputs
        .filter(({ name, value }) => nameOf(value) !== name)
        .map(({ name, value }) => ({ opType: 'Identity', input: [nameOf(value)], output: [name] })),
    ],
    input: [
      encodeValueInfo(ITERATION, 'int64', []),
      encodeValueInfo('proceed_before', 'bool', []),
      ...state.map((value, i) => info(nameOf(value), value, i)),
    ],
    output: outputs.map(({ of }) => of),
  };
  return encodeModel({
    name: 'loop',
    initializer: [
      ...graph.constants.map((value) => encodeConstant(value, nameOf(value))),
      { name: 'true', dataType: ONNX_TYPE.bool, dims: [], int32Data: [1] },
    ],
    input: [
      encodeValueInfo(MAX_ITERATIONS, 'int64', []),
      ...state.map((value, i) => info(initialName(i), value, i)),
      ...graph.leaves.map((value) => encodeValueInfo(nameOf(value), value.dtype, value.shape)),
    ],
    node: [
      {
        opType: 'Loop',
        input: [MAX_ITERATIONS, 'true', ...state.map((_, i) => initialName(i))],
        output: [...state.map((_, i) => finalName(i)), ...emitted.map((_, i) => emittedName(i))],
        attribute: [encodeGraphAttribute('body', body)],
      },
    ],
    output: [
      ...state.map((value, i) => info(finalName(i), value, i)),
      ...emitted.map((value, i) => stacked(emittedName(i), value.dtype, value.shape)),
    ],
  });
}

function stacked(name: string, dtype: ValueType, shape: readonly number[]): onnx.IValueInfoProto {
  return encodeValueInfo(name, dtype, [`${name}_iterations`, ...shape]);
}
