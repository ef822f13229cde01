import { join } from 'node:path';
import { expect } from 'vitest';
import { SafetensorsFile } from '../../src/formats/index.ts';
import { metricRows } from './stage-fixture.ts';

/** Two sets of files, byte for byte; the message names the file that differs. */
export function expectEqualTraces(got: Record<string, Buffer>, expected: Record<string, Buffer>): void {
  const differing = Object.keys(expected).filter((name) => !got[name]?.equals(expected[name]!));
  expect(differing).toEqual([]);
  expect(Object.keys(got)).toEqual(Object.keys(expected));
}

/** Losses of a run's steps, in order. */
export async function lossesOf(run: string): Promise<number[]> {
  return (await metricRows(run)).flatMap(({ loss }) => (typeof loss === 'number' ? [loss] : []));
}

/** All tensors of a safetensors file. */
export async function tensorsOf(path: string): Promise<Map<string, Float32Array>> {
  const file = await SafetensorsFile.open(path);
  const tensors = new Map<string, Float32Array>();
  for (const name of file.tensors.keys()) tensors.set(name, (await file.read(name)).data);
  await file.close();
  return tensors;
}

/** Largest absolute difference between the weights of two model folders. */
export async function weightsDifference(a: string, b: string, file = 'model.safetensors'): Promise<number> {
  const [left, right] = await Promise.all([a, b].map((folder) => tensorsOf(join(folder, file))));
  expect([...left!.keys()]).toEqual([...right!.keys()]);
  let largest = 0;
  for (const [name, values] of left!) {
    const others = right!.get(name)!;
    for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]! - others[i]!));
  }
  return largest;
}
