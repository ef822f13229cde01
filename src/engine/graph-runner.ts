import { performance } from 'node:perf_hooks';
import { Tensor as OrtTensor } from 'onnxruntime-node';
import { EngineError } from '../core/index.ts';
import type { NumericArray, TensorType } from './dtype.ts';
import { type CollectedGraph, collectGraph } from './graph-key.ts';
import { createSession, type Feeds, type Fetches, type SessionOptions } from './native-binding.ts';
import type { GraphValue } from './node.ts';
import { encodeGraph, encodeModel, nameByIndex } from './onnx-encode.ts';
import { type CompiledGraph, SessionCache } from './session-cache.ts';

export interface RunnerStats {
  /** Graphs run. */
  runs: number;
  /** Graphs compiled because no cached one had the same key. */
  compiles: number;
  /** Operations in the last graph run. */
  nodes: number;
  /** Values handed back by the last graph run. */
  outputs: number;
  sessions: number;
  evictions: number;
  /** Milliseconds since the start, spent gathering and keying graphs, compiling, and inside ONNX Runtime. */
  collectMs: number;
  compileMs: number;
  runMs: number;
}

/** Compiles pending graphs, once per structure, and runs them. */
export class GraphRunner {
  readonly #options: SessionOptions;
  readonly #sessions: SessionCache;
  #stats = { runs: 0, compiles: 0, nodes: 0, outputs: 0, collectMs: 0, compileMs: 0, runMs: 0 };

  constructor(options: SessionOptions, capacity: number) {
    this.#options = options;
    this.#sessions = new SessionCache(capacity);
  }

  get stats(): RunnerStats {
    return { ...this.#stats, sessions: this.#sessions.size, evictions: this.#sessions.evictions };
  }

  /** Computes `roots` (pending, distinct) in one run and stores their data in them. */
  run(roots: readonly GraphValue[]): void {
    const start = performance.now();
    const graph = collectGraph(roots);
    const unfed = graph.placeholders[0];
    if (unfed !== undefined)
      throw new EngineError(`a tensor that depends on the traced input '${unfed.placeholder}' was read`, {
        hint: 'dispose what a traced function records; only its outputs may leave it',
      });
    const collected = performance.now();
    const compiled = this.#sessions.get(graph.key) ?? this.#compile(graph);
    const ready = performance.now();
    const feeds: Feeds = {};
    for (let i = 0; i < graph.leaves.length; i++) feeds[compiled.inputNames[i]!] = feedOf(graph.leaves[i]!);
    const fetches: Fetches = {};
    for (const name of compiled.outputNames) fetches[name] = null;
    const results = compiled.session.run(feeds, fetches);
    for (let i = 0; i < graph.roots.length; i++) {
      const root = graph.roots[i]!;
      root.data = results[compiled.outputNames[i]!]!.data as NumericArray;
    }
    forgetHistory(graph);
    this.#stats.runs++;
    this.#stats.nodes = compiled.operations;
    this.#stats.outputs = graph.roots.length;
    this.#stats.collectMs += collected - start;
    this.#stats.compileMs += ready - collected;
    this.#stats.runMs += performance.now() - ready;
  }

  /**
   * Runs a model that is more than a collected graph, such as a loop; `encode` is asked for it only where no
   * compiled one has the key.
   */
  runModel(
    key: string,
    encode: () => { model: Uint8Array; operations: number },
    feeds: Feeds,
    outputNames: readonly string[],
  ): Record<string, OrtTensor> {
    const start = performance.now();
    let compiled = this.#sessions.get(key);
    if (compiled === undefined) {
      const { model, operations } = encode();
      const session = createSession(model, this.#options, { poolsMemory: true });
      compiled = { session, inputNames: Object.keys(feeds), outputNames, operations };
      this.#sessions.add(key, compiled);
      this.#stats.compiles++;
    }
    const ready = performance.now();
    const results = compiled.session.run(feeds, Object.fromEntries(outputNames.map((name) => [name, null])));
    this.#stats.runs++;
    this.#stats.nodes = compiled.operations;
    this.#stats.outputs = outputNames.length;
    this.#stats.compileMs += ready - start;
    this.#stats.runMs += performance.now() - ready;
    return results;
  }

  release(): void {
    this.#sessions.clear();
  }

  #compile(graph: CollectedGraph): CompiledGraph {
    const session = createSession(encodeModel(encodeGraph(graph)), this.#options);
    const compiled: CompiledGraph = {
      session,
      inputNames: graph.leaves.map(nameByIndex),
      outputNames: graph.roots.map(nameByIndex),
      operations: graph.operations.length,
    };
    this.#sessions.add(graph.key, compiled);
    this.#stats.compiles++;
    return compiled;
  }
}

/** A leaf's data as ONNX Runtime takes it, without copying. */
export function feedOf(leaf: GraphValue): OrtTensor {
  leaf.feed ??= new OrtTensor(leaf.dtype as TensorType, leaf.data as Float32Array, leaf.shape);
  return leaf.feed;
}

/**
 * Cuts results off from what they were computed from, or a kept one would keep its whole history in memory.
 * The operations stay whole: a tensor whose run failed may still depend on them.
 */
function forgetHistory(graph: CollectedGraph): void {
  for (const root of graph.roots) {
    root.producer = undefined;
    root.expandOf = undefined;
    root.castOf = undefined;
  }
}
