import { expect, it } from 'vitest';
import { ExternalData } from '../../src/engine/index.ts';
import { leaf } from '../../src/engine/node.ts';

const floats = (length: number, value: number): Float32Array => new Float32Array(length).fill(value);

function placed(data: ExternalData, name: string, values: Float32Array): Record<string, string> | undefined {
  const tensor = data.place(name, leaf('float32', [values.length], values), values);
  return tensor && Object.fromEntries(tensor.externalData!.map(({ key, value }) => [key!, value!]));
}

it('starts each tensor at the next page, and gives one that it holds its place again', () => {
  const data = new ExternalData({ location: 'w.data', smallestBytes: 4096 });
  const [a, b, c] = [floats(2048, 1), floats(1025, 2), floats(1024, 3)];
  expect(placed(data, 'a', a)).toEqual({ location: 'w.data', offset: '0', length: '8192' });
  expect(placed(data, 'b', b)).toEqual({ location: 'w.data', offset: '8192', length: '4100' });
  // 8192 + 4100 = 12292, and the page after it begins at 16384.
  expect(placed(data, 'c', c)).toEqual({ location: 'w.data', offset: '16384', length: '4096' });
  expect(placed(data, 'a in another graph', a)).toEqual({ location: 'w.data', offset: '0', length: '8192' });
  expect(placed(data, 'small', floats(1023, 4))).toBeUndefined();
  expect(data.bytes).toBe(20_480);

  const file = Buffer.concat([...data.pieces()]);
  const expected = Buffer.alloc(20_480);
  Buffer.from(a.buffer).copy(expected, 0);
  Buffer.from(b.buffer).copy(expected, 8192);
  Buffer.from(c.buffer).copy(expected, 16_384);
  expect(file.equals(expected)).toBe(true);
});

it('gives views of the tensors, of 16 MiB at most, and copies nothing', () => {
  const data = new ExternalData({ location: 'w.data', smallestBytes: 1 });
  const large = floats(10 * 2 ** 20, 1);
  placed(data, 'large', large);
  const pieces = [...data.pieces()];
  expect(pieces.map(({ length }) => length / 2 ** 20)).toEqual([16, 16, 8]);
  for (const piece of pieces) expect(piece.buffer).toBe(large.buffer);
});

it('places the part of an array that a tensor has', () => {
  const data = new ExternalData({ location: 'w.data', smallestBytes: 1 });
  const part = Float32Array.of(0, 1, 2, 3).subarray(1, 3);
  expect(placed(data, 'part', part)).toMatchObject({ offset: '0', length: '8' });
  const [piece] = [...data.pieces()];
  expect([...new Float32Array(piece!.slice().buffer)]).toEqual([1, 2]);
});
