import * as tf from '@tensorflow/tfjs';
import { OnnxBackend } from './backend.ts';

/**
 * Computes what is recorded, without waiting for the end of a step: what has been disposed since then gives its
 * memory back. On other backends there is nothing to do.
 */
export function computeNow(): void {
  const backend = tf.backend();
  if (backend instanceof OnnxBackend) backend.flush();
}
