import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../core/index.ts';
import { BACKEND_NAME, OnnxBackend } from './backend.ts';
import { type DelegationListener, delegate } from './delegate.ts';
import { LAZY_KERNELS } from './kernels/index.ts';
import type { KernelInputs } from './kernels/kernel.ts';

let registered = false;

/** Registers the lazy kernels, and for every other kernel of the plain JavaScript backend a delegate. */
export function registerKernels(onDelegation: DelegationListener): void {
  if (registered) return;
  registered = true;
  for (const [kernelName, record] of Object.entries(LAZY_KERNELS)) {
    tf.registerKernel({
      kernelName,
      backendName: BACKEND_NAME,
      kernelFunc: ({ inputs, backend, attrs }) => {
        const onnx = asOnnxBackend(backend);
        const values: Record<string, ReturnType<OnnxBackend['graphValue']>> = {};
        for (const name in inputs) {
          const tensor = inputs[name];
          if (tensor !== undefined && tensor !== null) values[name] = onnx.graphValue(tensor);
        }
        const result = record(values as KernelInputs, attrs ?? {});
        return Array.isArray(result)
          ? result.map((value) => onnx.tensorInfoOf(value))
          : onnx.tensorInfoOf(result);
      },
    });
  }
  for (const kernel of tf.getKernelsForBackend('cpu')) {
    if (kernel.kernelName in LAZY_KERNELS) continue;
    tf.registerKernel({
      kernelName: kernel.kernelName,
      backendName: BACKEND_NAME,
      kernelFunc: (call) => delegate(kernel, call, asOnnxBackend(call.backend), onDelegation),
    });
  }
}

function asOnnxBackend(backend: unknown): OnnxBackend {
  if (!(backend instanceof OnnxBackend))
    throw new EngineError('an onnx kernel was called by another backend');
  return backend;
}
