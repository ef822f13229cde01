import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CheckpointError, StorageError } from '../../src/core/index.ts';
import { MAXIMUM_HEADER_BYTES, SafetensorsFile, writeSafetensors } from '../../src/formats/index.ts';

let path: string;
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'safetensors-')), 'model.safetensors');
});

/** A file from a header (object or raw text) and data bytes, as another program would write it. */
async function craft(header: unknown, data: Uint8Array | number, claimed?: bigint): Promise<void> {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(claimed ?? BigInt(Buffer.byteLength(text)));
  const bytes = typeof data === 'number' ? Buffer.alloc(data) : data;
  await writeFile(path, Buffer.concat([length, Buffer.from(text), bytes]));
}

async function readOne(name: string): Promise<number[]> {
  const file = await SafetensorsFile.open(path);
  try {
    return [...(await file.read(name)).data];
  } finally {
    await file.close();
  }
}

const halves = (...bits: number[]) => new Uint8Array(Uint16Array.from(bits).buffer);

describe('reading', () => {
  test('F32, at an offset that is no multiple of 4', async () => {
    const header = '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} ';
    await craft(header, new Uint8Array(Float32Array.of(1.5, -2).buffer));
    expect(await readOne('a')).toEqual([1.5, -2]);
  });

  test('BF16 bits', async () => {
    await craft(
      { a: { dtype: 'BF16', shape: [4], data_offsets: [0, 8] } },
      halves(0x3f80, 0xc000, 0x7f80, 0x0080),
    );
    expect(await readOne('a')).toEqual([1, -2, Number.POSITIVE_INFINITY, 2 ** -126]);
  });

  test('F16 bits: normal, subnormal, largest, infinite, negative zero', async () => {
    await craft(
      { a: { dtype: 'F16', shape: [5], data_offsets: [0, 10] } },
      halves(0x3555, 0x0001, 0x7bff, 0xfc00, 0x8000),
    );
    expect(await readOne('a')).toEqual([0.333251953125, 2 ** -24, 65504, Number.NEGATIVE_INFINITY, -0]);
  });

  test('a scalar and an empty tensor', async () => {
    await craft(
      {
        scalar: { dtype: 'F32', shape: [], data_offsets: [0, 4] },
        empty: { dtype: 'F32', shape: [0, 3], data_offsets: [4, 4] },
      },
      new Uint8Array(Float32Array.of(7).buffer),
    );
    expect([await readOne('scalar'), await readOne('empty')]).toEqual([[7], []]);
  });

  test('an absent tensor is named', async () => {
    await craft({}, 0);
    const file = await SafetensorsFile.open(path);
    await expect(file.read('x')).rejects.toThrow('no tensor "x"');
    await file.close();
  });

  test('an absent file is a StorageError', async () => {
    await expect(SafetensorsFile.open(path)).rejects.toThrow(StorageError);
  });
});

describe('hostile files', () => {
  const entry = (changes: object) => ({
    a: { dtype: 'F32', shape: [1], data_offsets: [0, 4], ...changes },
  });
  const cases: [string, () => Promise<void>, string][] = [
    ['shorter than a length', () => writeFile(path, 'abc'), 'has 3 bytes'],
    ['header longer than the file', () => craft({}, 4, 1000n), 'claims 1000 bytes but the file has'],
    ['header of 2^63 bytes', () => craft({}, 4, 2n ** 63n), `at most ${MAXIMUM_HEADER_BYTES}`],
    ['header that is no JSON', () => craft('{"a":', 0), 'not JSON'],
    ['header that is a list', () => craft([], 0), 'not a JSON object'],
    ['unknown type', () => craft(entry({ dtype: 'I64' }), 4), 'type I64'],
    ['type named like an object method', () => craft(entry({ dtype: 'toString' }), 4), 'type toString'],
    ['entry without fields', () => craft({ a: null }, 0), 'type undefined'],
    ['negative dimension', () => craft(entry({ shape: [-1] }), 4), 'no valid shape'],
    ['fractional dimension', () => craft(entry({ shape: [0.5] }), 4), 'no valid shape'],
    ['product of dimensions beyond 2^53', () => craft(entry({ shape: [2 ** 40, 2 ** 40] }), 4), 'needs'],
    ['one offset', () => craft(entry({ data_offsets: [0] }), 4), 'no valid data_offsets'],
    ['offsets in reverse', () => craft(entry({ data_offsets: [4, 0] }), 4), 'bytes 4 to 0'],
    [
      'offset beyond the data',
      () => craft(entry({ shape: [2], data_offsets: [0, 8] }), 4),
      'the data have 4',
    ],
    ['size that is not the shape', () => craft(entry({ shape: [2] }), 4), 'needs 8 bytes, got 4'],
    ['metadata that is no string', () => craft({ __metadata__: { k: 1 } }, 0), 'metadata "k"'],
    [
      'overlap',
      () =>
        craft(
          {
            a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
            b: { dtype: 'F32', shape: [2], data_offsets: [4, 12] },
          },
          12,
        ),
      'overlaps',
    ],
    ['hole', () => craft(entry({ data_offsets: [4, 8] }), 8), 'hole of 4 bytes'],
    ['bytes after the last tensor', () => craft(entry({}), 8), 'the file holds 8'],
  ];
  test.each(cases)('%s', async (_, write, message) => {
    await write();
    const opening = SafetensorsFile.open(path);
    await expect(opening).rejects.toThrow(CheckpointError);
    await expect(opening).rejects.toThrow(message);
  });
});

describe('writing', () => {
  const tensors = new Map([
    ['b', { shape: [2, 2], data: Float32Array.of(1, 2, 3, Math.fround(0.1)) }],
    ['a', { shape: [], data: Float32Array.of(-5) }],
  ]);

  test('F32 comes back to the bit, with metadata', async () => {
    await writeSafetensors(path, tensors, { metadata: { step: '12', name: 'ä' } });
    const file = await SafetensorsFile.open(path);
    expect(await file.read('b')).toEqual(tensors.get('b'));
    expect(await file.read('a')).toEqual(tensors.get('a'));
    expect(file.metadata).toEqual({ step: '12', name: 'ä' });
    await file.close();
  });

  test('the layout of the format: length, sorted header padded to 8, data', async () => {
    await writeSafetensors(path, tensors);
    const bytes = await readFile(path);
    const length = Number(bytes.readBigUInt64LE(0));
    expect(length % 8).toBe(0);
    expect(JSON.parse(bytes.subarray(8, 8 + length).toString())).toEqual({
      a: { dtype: 'F32', shape: [], data_offsets: [0, 4] },
      b: { dtype: 'F32', shape: [2, 2], data_offsets: [4, 20] },
    });
    expect(bytes.readFloatLE(8 + length)).toBe(-5);
    expect(bytes.length).toBe(8 + length + 20);
  });

  test('BF16 rounds to nearest, ties to even', async () => {
    // bfloat16 keeps 7 fraction bits: near 1 its step is 2^-7.
    const step = 2 ** -7;
    const rounding: [number, number][] = [
      [1 + step / 2, 1], // tie, 1 is even
      [1 + 1.5 * step, 1 + 2 * step], // tie, up to even
      [1 + 0.51 * step, 1 + step],
      [1 + 0.49 * step, 1],
      [-(1 + 1.5 * step), -(1 + 2 * step)],
      [2 - step / 4, 2], // carries into the exponent
      [3.4028234663852886e38, Number.POSITIVE_INFINITY], // the largest float32 is past the last bfloat16
      [Number.NaN, Number.NaN],
      [-0, -0],
    ];
    const data = Float32Array.from(rounding, ([value]) => value);
    await writeSafetensors(path, new Map([['x', { shape: [data.length], data }]]), { dtype: 'BF16' });
    expect(await readOne('x')).toEqual(rounding.map(([, expected]) => expected));
  });

  test('a shape that does not fit its data is refused', async () => {
    const wrong = new Map([['x', { shape: [3], data: Float32Array.of(1) }]]);
    await expect(writeSafetensors(path, wrong)).rejects.toThrow('holds 3, got 1');
  });
});
