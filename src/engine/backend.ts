import * as tf from '@tensorflow/tfjs';
import type { Tensor as OrtTensor } from 'onnxruntime-node';
import { EngineError } from '../core/index.ts';
import { reshape } from './build.ts';
import {
  allocate,
  isTensorType,
  type NumericArray,
  sameShape,
  sizeOf,
  type TensorType,
  toStorage,
} from './dtype.ts';
import { feedOf, GraphRunner } from './graph-runner.ts';
import type { SessionOptions } from './native-binding.ts';
import { type GraphValue, leaf, scalar } from './node.ts';

export const BACKEND_NAME = 'onnx';

/** What a TensorFlow.js data id stands for. */
interface Storage {
  value: GraphValue;
  refCount: number;
}

/**
 * The TensorFlow.js backend that computes nothing until asked. Kernels record operations; a flush compiles and
 * runs everything that live tensors depend on as one graph, whose outputs are exactly the live tensors.
 */
export class OnnxBackend extends tf.KernelBackend {
  readonly runner: GraphRunner;
  readonly #storages: tf.DataStorage<Storage>;
  /** Storages whose value has no data yet. A disposed tensor leaves, and so is neither output nor copied. */
  readonly #pending = new Set<Storage>();
  /** While tracing: what stands in for the tensors that the traced graph takes as parameters. */
  #substitutes: ReadonlyMap<tf.DataId, GraphValue> | undefined;

  constructor(options: SessionOptions, cachedGraphs: number) {
    super();
    this.runner = new GraphRunner(options, cachedGraphs);
    this.#storages = new tf.DataStorage(this, tf.engine());
  }

  // --- storage, as TensorFlow.js calls it

  override write(values: tf.BackendValues, shape: number[], dtype: tf.DataType): tf.DataId {
    const dataId = {};
    this.move(dataId, values, shape, dtype, 1);
    return dataId;
  }

  override move(
    dataId: tf.DataId,
    values: tf.BackendValues,
    shape: number[],
    dtype: tf.DataType,
    refCount: number,
  ): void {
    if (!isTensorType(dtype))
      throw new EngineError(`the backend onnx holds no ${dtype} tensors`, {
        hint: 'use float32, int32 or bool tensors, or the backend cpu',
      });
    const data = toStorage(dtype, values as ArrayLike<number>);
    const value = sizeOf(shape) === 1 ? scalar(dtype, data[0]!, [...shape]) : leaf(dtype, [...shape], data);
    this.#storages.set(dataId, { value, refCount });
  }

  override read(dataId: tf.DataId): Promise<tf.BackendValues> {
    return new Promise((resolve) => resolve(this.readSync(dataId)));
  }

  override readSync(dataId: tf.DataId): NumericArray {
    const { value } = this.#storages.get(dataId);
    if (value.data === undefined && value.splat === undefined) this.#compute(value);
    return dataOf(value);
  }

  override disposeData(dataId: tf.DataId, force = false): boolean {
    if (!this.#storages.has(dataId)) return true;
    const storage = this.#storages.get(dataId);
    storage.refCount--;
    if (!force && storage.refCount > 0) return false;
    this.#pending.delete(storage);
    this.#storages.delete(dataId);
    return true;
  }

  override refCount(dataId: tf.DataId): number {
    return this.#storages.has(dataId) ? this.#storages.get(dataId).refCount : 0;
  }

  override incRef(dataId: tf.DataId): void {
    this.#storages.get(dataId).refCount++;
  }

  override numDataIds(): number {
    return this.#storages.numDataIds();
  }

  override memory(): { unreliable: boolean; reasons: string[] } {
    return { unreliable: true, reasons: ["ONNX Runtime's own memory for compiled graphs is not counted"] };
  }

  override epsilon(): number {
    return 1e-7;
  }

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override timerAvailable(): boolean {
    return false;
  }

  override dispose(): void {
    this.runner.release();
  }

  // --- the lazy graph

  /** The graph value of a tensor, in the tensor's shape. */
  graphValue(tensor: tf.TensorInfo): GraphValue {
    const value = this.#substitutes?.get(tensor.dataId) ?? this.#storages.get(tensor.dataId).value;
    return sameShape(value.shape, tensor.shape) ? value : reshape(value, [...tensor.shape]);
  }

  /** A new tensor for a graph value; pending until the next flush. */
  tensorInfoOf(value: GraphValue): tf.TensorInfo {
    const dataId = {};
    const storage: Storage = { value, refCount: 1 };
    this.#storages.set(dataId, storage);
    if (value.data === undefined && value.constant === undefined) this.#pending.add(storage);
    return { dataId, shape: [...value.shape], dtype: value.dtype as tf.DataType };
  }

  get pendingTensors(): number {
    return this.#pending.size;
  }

  /**
   * Computes every pending tensor, in one run. If the run fails, none of them stays pending, so that what is
   * recorded afterwards can run; each is computed by itself when it is read, or answers why it cannot be.
   */
  flush(): void {
    if (this.#substitutes !== undefined)
      throw new EngineError(
        'a tensor was read, or a kernel without ONNX form called, while tracing a graph',
        {
          hint: 'a traced function may use only its inputs and lazily recorded operations',
        },
      );
    const roots = new Set<GraphValue>();
    for (const { value } of this.#pending) {
      if (value.data !== undefined) continue;
      if (value.splat !== undefined) value.data = filled(value);
      else roots.add(value);
    }
    this.#pending.clear();
    const [only] = roots;
    if (roots.size === 1) this.#computeAlone(only!);
    else if (roots.size > 1) this.runner.run([...roots]);
  }

  /** Computes one pending tensor and, where nothing fails, all the others with it. */
  #compute(value: GraphValue): void {
    if (value.failure !== undefined) throw value.failure;
    let failure: unknown;
    try {
      this.flush();
    } catch (error) {
      failure = error;
    }
    if (value.data !== undefined) return;
    // Tracing forbids every run; and a failure of this value needs no second proof.
    if (failure !== undefined && (this.#substitutes !== undefined || value.failure !== undefined))
      throw failure;
    // The fault may be another tensor's, which will say so when it is read.
    this.#computeAlone(value);
  }

  #computeAlone(value: GraphValue): void {
    try {
      this.runner.run([value]);
    } catch (error) {
      value.failure = error;
      throw error;
    }
  }

  /** Runs `build` with reading forbidden; what it records stays pending only as long as its tensors live. */
  whileTracing(substitutes: ReadonlyMap<tf.DataId, GraphValue>, build: () => void): void {
    this.flush();
    this.#substitutes = substitutes;
    try {
      build();
    } finally {
      this.#substitutes = undefined;
    }
  }

  /** A tensor's data as ONNX Runtime takes it, without copying. */
  feed(tensor: tf.TensorInfo): OrtTensor {
    const data = this.readSync(tensor.dataId);
    const value = this.graphValue(tensor);
    return feedOf(value.data === undefined ? leaf(value.dtype as TensorType, value.shape, data) : value);
  }
}

function dataOf(value: GraphValue): NumericArray {
  // Equal constants are one value, in every graph: with data it would become an input of all of them.
  if (value.constant !== undefined) return filled(value);
  value.data ??= filled(value);
  return value.data;
}

function filled(value: GraphValue): NumericArray {
  const data = allocate(value.dtype, sizeOf(value.shape));
  data.fill(value.splat!);
  return data;
}

/** The running backend; an error if another one is chosen. */
export function currentBackend(): OnnxBackend {
  const backend = tf.backend();
  if (!(backend instanceof OnnxBackend))
    throw new EngineError(`this needs the backend onnx; '${tf.getBackend()}' is running`, {
      hint: "call startEngine({ backend: 'onnx' }) first",
    });
  return backend;
}
