import { availableParallelism } from 'node:os';
import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../core/index.ts';
import { BACKEND_NAME, OnnxBackend } from './backend.ts';
import { replaceGradients } from './gradients.ts';
import type { RunnerStats } from './graph-runner.ts';
import { ONNXRUNTIME_VERSION, type Provider, selfTest } from './native-binding.ts';
import { registerKernels } from './register-kernels.ts';

export interface EngineOptions {
  /** `onnx` (default): lazy graphs in ONNX Runtime. `tensorflow`: TensorFlow's native library, if installed. `cpu`: plain JavaScript, slow, the reference. */
  backend?: 'onnx' | 'tensorflow' | 'cpu';
  /** Threads inside one operator, for the backend onnx; by default all the machine offers. */
  threads?: number;
  /** Where ONNX Runtime computes; by default the CPU. */
  provider?: Provider;
  /** Compiled graphs to keep; each holds native memory. Default 16. */
  cachedGraphs?: number;
  /** Told once per kernel that has no ONNX form and runs in plain JavaScript instead. */
  onWarning?: (message: string) => void;
}

export interface EngineInfo {
  backend: 'onnx' | 'tensorflow' | 'cpu';
  provider: Provider | 'native' | 'javascript';
  /** 1 where the backend does not let us choose. */
  threads: number;
  /** Library and version that computes. */
  runtime: string;
}

export interface EngineStats extends RunnerStats {
  /** Tensors recorded but not computed yet. */
  pending: number;
  /** Calls of kernels that left the graph for plain JavaScript, by kernel. */
  delegated: Readonly<Record<string, number>>;
}

const DEFAULT_CACHED_GRAPHS = 16;

/** The native library starts every thread it is asked for; thousands of them bring a machine to a halt. */
const THREADS_PER_CORE = 4;

interface Running {
  settings: string;
  info: EngineInfo;
  onnx: OnnxBackend | undefined;
  delegated: Map<string, number>;
}

let running: Running | undefined;
let warn: ((message: string) => void) | undefined;

/**
 * Chooses the backend that all TensorFlow.js operations run on. Calling it again with the same options returns
 * the same answer; other options need stopEngine() first, because tensors live on one backend.
 *
 * On the backend onnx operations are recorded and run together, at runPending() or when a tensor is read. Two
 * rules follow. What is not disposed before runPending() is copied out of the graph, so record a step inside
 * tf.tidy and run it after. And an array given to tf.tensor() must not be changed before it has run.
 */
export async function startEngine(options: EngineOptions = {}): Promise<EngineInfo> {
  const { backend = 'onnx', provider = 'cpu', cachedGraphs = DEFAULT_CACHED_GRAPHS } = options;
  const threads = options.threads ?? availableParallelism();
  const mostThreads = THREADS_PER_CORE * availableParallelism();
  if (!Number.isInteger(threads) || threads < 1 || threads > mostThreads) {
    throw new EngineError(
      `the number of threads must be a whole number from 1 to ${mostThreads}, got ${threads}`,
      { hint: `this machine runs ${availableParallelism()} at once; more than that is rarely faster` },
    );
  }
  const settings = JSON.stringify(
    backend === 'onnx' ? [backend, provider, threads, cachedGraphs] : [backend],
  );
  if (options.onWarning !== undefined) warn = options.onWarning;
  if (running !== undefined) {
    if (running.settings === settings) return running.info;
    throw new EngineError(`the engine already runs as ${running.settings}, asked for ${settings}`, {
      hint: 'call stopEngine() before starting it with other options',
    });
  }
  // Silences TensorFlow.js's advice, on every start, to install its native package.
  tf.enableProdMode();
  replaceGradients();
  if (backend === 'tensorflow') running = { settings, ...(await startTensorFlow()) };
  else if (backend === 'cpu') running = { settings, ...(await startPlain()) };
  else running = { settings, ...(await startOnnx(provider, threads, cachedGraphs)) };
  return running.info;
}

/** Whether `startEngine` has chosen a backend that `stopEngine` has not given up again. */
export const isEngineRunning = (): boolean => running !== undefined;

/** Computes all tensors recorded so far, in one graph. On other backends there is never anything pending. */
export async function runPending(): Promise<void> {
  running?.onnx?.flush();
}

export function engineStats(): EngineStats {
  const idle = { runs: 0, compiles: 0, nodes: 0, outputs: 0, sessions: 0, evictions: 0 };
  const stats = running?.onnx?.runner.stats ?? { ...idle, collectMs: 0, compileMs: 0, runMs: 0 };
  return {
    ...stats,
    pending: running?.onnx?.pendingTensors ?? 0,
    delegated: Object.fromEntries(running?.delegated ?? []),
  };
}

/** Releases all compiled graphs. Tensors of the backend onnx are lost. */
export function stopEngine(): void {
  if (running?.onnx !== undefined) tf.removeBackend(BACKEND_NAME);
  running = undefined;
  warn = undefined;
}

async function startOnnx(
  provider: Provider,
  threads: number,
  cachedGraphs: number,
): Promise<Omit<Running, 'settings'>> {
  selfTest({ provider, threads });
  registerKernels(countDelegation);
  const onnx = new OnnxBackend({ provider, threads }, cachedGraphs);
  tf.registerBackend(BACKEND_NAME, () => onnx);
  await choose(BACKEND_NAME);
  const runtime = `onnxruntime ${ONNXRUNTIME_VERSION}`;
  return { info: { backend: 'onnx', provider, threads, runtime }, onnx, delegated: new Map() };
}

function countDelegation(kernelName: string): void {
  if (running === undefined) return;
  const calls = running.delegated.get(kernelName) ?? 0;
  running.delegated.set(kernelName, calls + 1);
  if (calls === 0)
    warn?.(`the kernel ${kernelName} has no ONNX form and runs in plain JavaScript, which is slow`);
}

async function startPlain(): Promise<Omit<Running, 'settings'>> {
  await choose('cpu');
  const runtime = `tfjs-backend-cpu ${tf.version_core}`;
  return {
    info: { backend: 'cpu', provider: 'javascript', threads: 1, runtime },
    onnx: undefined,
    delegated: new Map(),
  };
}

async function startTensorFlow(): Promise<Omit<Running, 'settings'>> {
  const failures: string[] = [];
  for (const name of ['@tensorflow/tfjs-node-gpu', '@tensorflow/tfjs-node']) {
    try {
      await import(name);
      await choose('tensorflow');
      return {
        info: { backend: 'tensorflow', provider: 'native', threads: 1, runtime: name },
        onnx: undefined,
        delegated: new Map(),
      };
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  throw new EngineError(`the backend tensorflow is not installed (${failures.join('; ')})`, {
    hint: 'npm i @tensorflow/tfjs-node-gpu (CUDA) or @tensorflow/tfjs-node, or use the backend onnx',
  });
}

async function choose(name: string): Promise<void> {
  if (!(await tf.setBackend(name)))
    throw new EngineError(`TensorFlow.js could not start the backend ${name}`);
  await tf.ready();
}
