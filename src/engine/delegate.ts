import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../core/index.ts';
import type { OnnxBackend } from './backend.ts';

/** Told the kernel's name each time a kernel leaves the lazy graph. */
export type DelegationListener = (kernelName: string) => void;

type KernelCall = Parameters<tf.KernelFunc>[0];

/**
 * Runs a kernel that has no ONNX form in plain JavaScript: computes what is pending, copies the inputs over
 * and the results back. Slow, and it splits the graph, hence counted and reported.
 */
export function delegate(
  kernel: tf.KernelConfig,
  { inputs, attrs }: KernelCall,
  onnx: OnnxBackend,
  onDelegation: DelegationListener,
): tf.TensorInfo | tf.TensorInfo[] {
  onDelegation(kernel.kernelName);
  const cpu = tf.engine().findBackend('cpu');
  const borrowed: tf.NamedTensorInfoMap = {};
  try {
    for (const name in inputs) {
      const tensor = inputs[name];
      if (tensor === undefined || tensor === null) continue;
      const { shape, dtype } = tensor;
      borrowed[name] = { dataId: cpu.write(onnx.readSync(tensor.dataId), shape, dtype), shape, dtype };
    }
    const operands = Array.isArray(inputs)
      ? (Object.values(borrowed) as unknown as tf.NamedTensorInfoMap)
      : borrowed;
    const results = kernel.kernelFunc({ inputs: operands, backend: cpu, ...(attrs && { attrs }) });
    const taken = (Array.isArray(results) ? results : [results]).map((result) => take(result, cpu, onnx));
    return Array.isArray(results) ? taken : taken[0]!;
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError(
      `the kernel ${kernel.kernelName} failed on the backend onnx: ${(error as Error).message}`,
      {
        hint: 'it has no ONNX form and ran in plain JavaScript; check its arguments',
        cause: error,
      },
    );
  } finally {
    for (const tensor of Object.values(borrowed)) if (tensor) cpu.disposeData(tensor.dataId);
  }
}

function take(result: tf.TensorInfo, cpu: tf.KernelBackend, onnx: OnnxBackend): tf.TensorInfo {
  const { shape, dtype } = result;
  const values = cpu.readSync(result.dataId);
  const dataId = onnx.write(values, shape, dtype);
  cpu.disposeData(result.dataId);
  return { dataId, shape, dtype };
}
