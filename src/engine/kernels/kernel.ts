import type * as tf from '@tensorflow/tfjs';
import { EngineError } from '../../core/index.ts';
import type { GraphValue } from '../node.ts';

/** A kernel's tensors, by the argument names of TensorFlow.js, each already in the shape the op sees. */
export type KernelInputs = Readonly<Record<string, GraphValue>>;
export type KernelAttributes = tf.NamedAttrMap;

/** Records a kernel in the lazy graph. Several outputs come as an array. */
export type LazyKernel = (inputs: KernelInputs, attributes: KernelAttributes) => GraphValue | GraphValue[];

/** Kernels by their TensorFlow.js name. */
export type KernelTable = Readonly<Record<string, LazyKernel>>;

export function input(inputs: KernelInputs, name: string): GraphValue {
  const value = inputs[name];
  if (value === undefined) throw new EngineError(`a kernel was called without its input '${name}'`);
  return value;
}

/** Inputs that TensorFlow.js passes as a list (Concat, Pack, AddN, Einsum), in order. */
export function inputList(inputs: KernelInputs): GraphValue[] {
  return Object.values(inputs);
}

export function numberAttribute(attributes: KernelAttributes, name: string): number {
  const value = attributes[name];
  if (typeof value !== 'number') throw wrongAttribute(name, value, 'a number');
  return value;
}

export function booleanAttribute(attributes: KernelAttributes, name: string): boolean {
  const value = attributes[name] ?? false;
  if (typeof value !== 'boolean') throw wrongAttribute(name, value, 'true or false');
  return value;
}

export function stringAttribute(attributes: KernelAttributes, name: string): string {
  const value = attributes[name];
  if (typeof value !== 'string') throw wrongAttribute(name, value, 'a string');
  return value;
}

export function numbersAttribute(attributes: KernelAttributes, name: string): number[] {
  const value = attributes[name];
  if (typeof value === 'number') return [value];
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'number'))
    throw wrongAttribute(name, value, 'a list of numbers');
  return value;
}

export function optionalNumbersAttribute(attributes: KernelAttributes, name: string): number[] | undefined {
  return attributes[name] === undefined || attributes[name] === null
    ? undefined
    : numbersAttribute(attributes, name);
}

function wrongAttribute(name: string, got: unknown, wanted: string): EngineError {
  return new EngineError(`a kernel's attribute '${name}' must be ${wanted}, got ${JSON.stringify(got)}`);
}

/** Axes counted from the end made positive; all axes where none are named. */
export function normalizedAxes(axes: readonly number[] | undefined, rank: number): number[] {
  if (axes === undefined) return Array.from({ length: rank }, (_, axis) => axis);
  return axes.map((axis) => (axis < 0 ? axis + rank : axis));
}
