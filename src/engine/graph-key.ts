import type { GraphValue, Operation } from './node.ts';

/** A closed piece of the lazy graph, in the order in which it can be computed. */
export interface CollectedGraph {
  operations: Operation[];
  leaves: GraphValue[];
  constants: GraphValue[];
  placeholders: GraphValue[];
  roots: GraphValue[];
  /**
   * Equal for two graphs exactly when one compiled model serves both: operators, attributes, types, shapes,
   * constants and wiring, but neither the leaves' contents nor the age of anything.
   */
  key: string;
}

let lastMark = 0;

/**
 * Gathers everything that `roots` depend on. Values are numbered by first use in the order of recording, so
 * that the second training step, whose leaves are other objects, has the key of the first.
 */
export function collectGraph(roots: readonly GraphValue[]): CollectedGraph {
  const operations = reachableOperations(roots);
  const mark = ++lastMark;
  const leaves: GraphValue[] = [];
  const constants: GraphValue[] = [];
  const placeholders: GraphValue[] = [];
  const parts: string[] = [];
  let index = 0;

  const numberSource = (value: GraphValue): void => {
    value.mark = mark;
    value.index = index++;
    if (value.data !== undefined) {
      leaves.push(value);
      parts.push(`L${value.dtype}${value.shape}`);
    } else if (value.constant !== undefined) {
      constants.push(value);
      parts.push(`C${value.dtype}${value.shape}=${value.constant}`);
    } else {
      placeholders.push(value);
      parts.push(`P${value.placeholder}${value.dtype}${value.shape}`);
    }
  };

  for (const operation of operations) {
    let part = operation.signature;
    for (const input of operation.inputs) {
      if (input === undefined) {
        part += ':_';
        continue;
      }
      if (input.mark !== mark) numberSource(input);
      part += `:${input.index}`;
    }
    for (const output of operation.outputs) {
      output.mark = mark;
      output.index = index++;
    }
    parts.push(part);
  }
  for (const root of roots) if (root.mark !== mark) numberSource(root);
  const ordered = [...roots].sort((a, b) => a.index - b.index);
  parts.push(`R${ordered.map((root) => root.index)}`);
  return { operations, leaves, constants, placeholders, roots: ordered, key: parts.join(';') };
}

function reachableOperations(roots: readonly GraphValue[]): Operation[] {
  const mark = ++lastMark;
  const operations: Operation[] = [];
  const stack: GraphValue[] = [...roots];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    const { producer } = value;
    if (value.data !== undefined || producer === undefined || producer.mark === mark) continue;
    producer.mark = mark;
    operations.push(producer);
    for (const input of producer.inputs) if (input !== undefined) stack.push(input);
  }
  return operations.sort((a, b) => a.id - b.id);
}
