import { fsyncSync, writeSync } from 'node:fs';
import { asStorageError } from '../core/index.ts';

/** Writes all bytes to an open file, at once: a killed process loses none. */
export function appendFully(descriptor: number, bytes: Uint8Array, path: string): void {
  try {
    // A disk that fills up takes a part first and refuses the rest on the next write.
    let written = 0;
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    throw asStorageError(error, `writing ${path}`);
  }
}

/** Forces what was written to the device. */
export function forceToDevice(descriptor: number, path: string): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    throw asStorageError(error, `writing ${path}`);
  }
}
