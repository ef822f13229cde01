import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { type BackendWasm, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { startEngine, tf } from '../../src/engine/index.ts';

/** Switches TensorFlow.js to its WebAssembly backend. An error if it quietly chose another one. */
export async function startWasm(): Promise<string> {
  // Starting the engine first puts our gradients in place, which are faster on this backend too.
  await startEngine({ backend: 'cpu' });
  const main = createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm');
  setWasmPaths(dirname(main) + sep);
  if (!(await tf.setBackend('wasm'))) throw new Error('the backend wasm did not start');
  await tf.ready();
  if (tf.getBackend() !== 'wasm') throw new Error(`the backend is ${tf.getBackend()}, not wasm`);
  registerSegmentSum();
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT');
  return `tfjs-backend-wasm ${tf.version_core}, SIMD ${simd ? 'on' : 'off'}, 1 thread`;
}

/** The gradient of an embedding needs it, and this backend lacks it. */
function registerSegmentSum(): void {
  tf.registerKernel({
    kernelName: 'UnsortedSegmentSum',
    backendName: 'wasm',
    kernelFunc: ({ inputs, backend, attrs }) => {
      const wasm = backend as BackendWasm;
      const { x, segmentIds } = inputs as { x: tf.TensorInfo; segmentIds: tf.TensorInfo };
      const { numSegments } = attrs as { numSegments: number };
      const values = wasm.readSync(x.dataId) as Float32Array;
      const segments = wasm.readSync(segmentIds.dataId) as Int32Array;
      const width = values.length / segments.length;
      const sums = new Float32Array(numSegments * width);
      segments.forEach((segment, row) => {
        for (let i = 0; i < width; i++) sums[segment * width + i]! += values[row * width + i]!;
      });
      const shape = [numSegments, ...x.shape.slice(segmentIds.shape.length)];
      return { dataId: wasm.write(sums, shape, 'float32'), shape, dtype: 'float32' };
    },
  });
}
