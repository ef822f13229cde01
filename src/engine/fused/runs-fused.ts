import * as tf from '@tensorflow/tfjs';
import { BACKEND_NAME } from '../backend.ts';

/** Whether ONNX Runtime's fused operators can take these tensors: they know no empty ones. */
export function runsFused(...tensors: tf.Tensor[]): boolean {
  return tf.getBackend() === BACKEND_NAME && tensors.every(({ size }) => size > 0);
}
