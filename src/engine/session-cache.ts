import type { NativeSession } from './native-binding.ts';

/** A compiled graph. Inputs are the leaves and outputs the roots of the collected graph, in its order. */
export interface CompiledGraph {
  session: NativeSession;
  inputNames: readonly string[];
  outputNames: readonly string[];
  operations: number;
}

/** Keeps the most recently used compiled graphs and releases the native memory of the others. */
export class SessionCache {
  readonly capacity: number;
  #graphs = new Map<string, CompiledGraph>();
  #evictions = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#graphs.size;
  }

  /** Compiled graphs released to make room, since the start. */
  get evictions(): number {
    return this.#evictions;
  }

  get(key: string): CompiledGraph | undefined {
    const graph = this.#graphs.get(key);
    if (graph === undefined) return undefined;
    this.#graphs.delete(key);
    this.#graphs.set(key, graph);
    return graph;
  }

  add(key: string, graph: CompiledGraph): void {
    this.#graphs.set(key, graph);
    for (const [oldKey, oldGraph] of this.#graphs) {
      if (this.#graphs.size <= this.capacity) break;
      this.#graphs.delete(oldKey);
      oldGraph.session.release();
      this.#evictions++;
    }
  }

  clear(): void {
    for (const graph of this.#graphs.values()) graph.session.release();
    this.#graphs.clear();
  }
}
