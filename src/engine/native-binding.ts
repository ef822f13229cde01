/**
 * The one place that touches ONNX Runtime's native binding. Its `run` is synchronous, which the public
 * asynchronous interface hides; dataSync() needs it. Later versions run on a worker thread, copy their inputs
 * and return a promise, so the version is pinned and the behaviour tested at start-up.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Tensor as OrtTensor } from 'onnxruntime-node';
import { EngineError } from '../core/index.ts';
import { encodeModel, encodeValueInfo } from './onnx-encode.ts';

export const ONNXRUNTIME_VERSION = '1.30.0';

export type Provider = 'cpu' | 'webgpu' | 'cuda';

export interface SessionOptions {
  provider: Provider;
  /** Threads inside one operator. */
  threads: number;
}

/** What ONNX Runtime is given and gives back, by graph input or output name. */
export type Feeds = Record<string, OrtTensor>;
/** `null` asks for a new array; a tensor is written in place. */
export type Fetches = Record<string, OrtTensor | null>;

export interface NativeSession {
  run(feeds: Feeds, fetches: Fetches): Record<string, OrtTensor>;
  /** Gives the session's memory back; it cannot run again. */
  release(): void;
}

interface RawSession {
  loadModel(buffer: ArrayBufferLike, byteOffset: number, byteLength: number, options: object): void;
  run(feeds: Feeds, fetches: Fetches, options: object): Record<string, OrtTensor> | Promise<unknown>;
  dispose(): void;
}

interface RawBinding {
  initOrt(): void;
  binding: { InferenceSession: new () => RawSession };
}

let loaded: RawBinding | undefined;

function loadBinding(): RawBinding {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  try {
    const main = require.resolve('onnxruntime-node');
    const { version } = require('onnxruntime-node/package.json') as { version: string };
    if (version !== ONNXRUNTIME_VERSION)
      throw new EngineError(
        `onnxruntime-node ${version} is installed; only ${ONNXRUNTIME_VERSION} is supported`,
        {
          hint: `install the pinned version: npm i onnxruntime-node@${ONNXRUNTIME_VERSION} --save-exact`,
        },
      );
    const binding = require(join(dirname(main), 'binding.js')) as RawBinding;
    binding.initOrt();
    loaded = binding;
    return binding;
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError(
      `ONNX Runtime's native library cannot be loaded on ${process.platform}-${process.arch}`,
      {
        hint: 'run npm ci again; supported are linux, macOS and windows on x64 and arm64. Or choose the backend cpu (slow)',
        cause: error,
      },
    );
  }
}

export interface ModelOptions {
  /**
   * For a model that allocates the same things again and again while it runs, such as a loop: they come from
   * one pool, which goes back after each run.
   */
  poolsMemory?: boolean;
}

const GIVE_POOL_BACK = { extra: { memory: { enable_memory_arena_shrinkage: 'cpu:0' } } };

/** Compiles a model, synchronously. */
export function createSession(
  model: Uint8Array,
  options: SessionOptions,
  { poolsMemory = false }: ModelOptions = {},
): NativeSession {
  // The pool of a GPU is its provider's affair.
  const pooled = poolsMemory && options.provider === 'cpu';
  const runOptions = pooled ? GIVE_POOL_BACK : {};
  const raw = new (loadBinding().binding.InferenceSession)();
  try {
    raw.loadModel(model.buffer, model.byteOffset, model.byteLength, {
      executionProviders: [options.provider],
      intraOpNumThreads: options.threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      // Without them the memory of intermediate results goes back after each run; with them every cached graph
      // keeps its own, and no run of a graph without a loop is measurably faster.
      enableMemPattern: false,
      enableCpuMemArena: pooled,
      logSeverityLevel: 4,
      // Threads that wait by spinning take the processor from JavaScript, and from every other process.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
  } catch (error) {
    throw new EngineError(`ONNX Runtime refused a graph: ${messageOf(error)}`, { cause: error });
  }
  return {
    run(feeds, fetches) {
      let outputs: ReturnType<RawSession['run']>;
      try {
        outputs = raw.run(feeds, fetches, runOptions);
      } catch (error) {
        throw new EngineError(`ONNX Runtime failed while running a graph: ${messageOf(error)}`, {
          cause: error,
        });
      }
      if (outputs instanceof Promise)
        throw new EngineError('ONNX Runtime ran asynchronously; the engine needs the synchronous binding', {
          hint: `install onnxruntime-node ${ONNXRUNTIME_VERSION} exactly`,
        });
      return outputs;
    },
    release: () => raw.dispose(),
  };
}

/** Runs 2 x 3 = 6 once: the binding loads, answers directly instead of by promise, and answers rightly. */
export function selfTest(options: SessionOptions): void {
  const session = createSession(
    encodeModel({
      name: 'self-test',
      node: [{ opType: 'Mul', input: ['a', 'b'], output: ['c'] }],
      input: [encodeValueInfo('a', 'float32', [1]), encodeValueInfo('b', 'float32', [1])],
      output: [encodeValueInfo('c', 'float32', [1])],
    }),
    options,
  );
  try {
    const a = new OrtTensor('float32', Float32Array.of(2), [1]);
    const b = new OrtTensor('float32', Float32Array.of(3), [1]);
    const fresh = session.run({ a, b }, { c: null }).c?.data[0];
    const inPlace = new OrtTensor('float32', new Float32Array(1), [1]);
    session.run({ a, b }, { c: inPlace });
    if (fresh !== 6 || inPlace.data[0] !== 6)
      throw new EngineError(`ONNX Runtime's self-test got 2 x 3 = ${fresh}, in place ${inPlace.data[0]}`, {
        hint: `reinstall onnxruntime-node ${ONNXRUNTIME_VERSION}`,
      });
  } finally {
    session.release();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
