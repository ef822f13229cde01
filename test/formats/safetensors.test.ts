import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
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

  test.each(['F32', 'BF16', 'F16'] as const)(
    'a part of a %s tensor, across the pieces it is read in',
    async (dtype) => {
      const length = 2 ** 21 + 5;
      const data = Float32Array.from({ length }, (_, i) => i % 128); // exact in every type
      await writeSafetensors(path, new Map([['x', { shape: [length], data }]]), { dtype });
      const file = await SafetensorsFile.open(path);
      const part = new Float32Array(2 ** 20 + 3);
      await file.readInto('x', part, 7);
      expect(part).toEqual(data.subarray(7, 7 + part.length));
      await expect(file.readInto('x', part, length - part.length + 1)).rejects.toThrow('asked for');
      await file.close();
    },
  );

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
    ['negative offset', () => craft(entry({ data_offsets: [-4, 0] }), 4), 'no valid data_offsets'],
    ['offset beyond 2^53', () => craft(entry({ data_offsets: [0, 2 ** 60] }), 4), 'no valid data_offsets'],
    ['type of half the size', () => craft(entry({ dtype: 'BF16' }), 4), 'needs 2 bytes, got 4'],
    ['shape that is no list', () => craft(entry({ shape: '1' }), 4), 'no valid shape'],
    ['header that is text', () => craft('"a"', 0), 'not a JSON object'],
    ['header before which a byte order mark stands', () => craft('\uFEFF{}', 0), 'not JSON'],
    [
      'header that is no UTF-8',
      () => {
        const header = Buffer.from('{"__metadata__":{"\xff":"x"}}', 'latin1');
        const length = Buffer.from([header.length, 0, 0, 0, 0, 0, 0, 0]);
        return writeFile(path, Buffer.concat([length, header]));
      },
      'not JSON',
    ],
    [
      'the same tensor twice',
      () => craft(`{"a":${JSON.stringify(entry({}).a)},"a":${JSON.stringify(entry({}).a)}}`, 4),
      'the key "a" twice',
    ],
    [
      'the same tensor twice, once with an escape',
      () => craft(`{"a":${JSON.stringify(entry({}).a)},"\\u0061":${JSON.stringify(entry({}).a)}}`, 4),
      'the key "a" twice',
    ],
    [
      'two types of one tensor',
      () => craft('{"a":{"dtype":"F16","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
      'the key "dtype" twice',
    ],
    ['metadata that is a list', () => craft({ __metadata__: ['a'] }, 0), '__metadata__ is not a JSON object'],
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

  test('a file cut short anywhere is refused', async () => {
    await writeSafetensors(path, new Map([['a', { shape: [3], data: Float32Array.of(1, 2, 3) }]]));
    const whole = await readFile(path);
    for (let length = 0; length < whole.length; length++) {
      await writeFile(path, whole.subarray(0, length));
      await expect(SafetensorsFile.open(path), `${length} bytes`).rejects.toThrow(CheckpointError);
    }
  });

  test('changed bytes give a CheckpointError, or tensors that lie inside the file', async () => {
    const tensors = new Map(['a', 'b'].map((name) => [name, { shape: [2, 2], data: new Float32Array(4) }]));
    await writeSafetensors(path, tensors, { metadata: { step: '1' } });
    const whole = await readFile(path);
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        await writeFile(path, bytes);
        let file: SafetensorsFile;
        try {
          file = await SafetensorsFile.open(path);
        } catch (error) {
          expect(error).toBeInstanceOf(CheckpointError);
          return;
        }
        const sizes = [...file.tensors.values()].map(({ begin, end }) => end - begin);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(32);
        for (const name of file.tensors.keys()) await file.read(name);
        await file.close();
      }),
      { numRuns: 300 },
    );
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
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      [(2 - 2 ** -8 - 2 ** -23) * 2 ** 127, (2 - 2 ** -7) * 2 ** 127], // just below half a step past the last bfloat16
      [Number.NaN, Number.NaN],
      [-0, -0],
    ];
    const data = Float32Array.from(rounding, ([value]) => value);
    await writeSafetensors(path, new Map([['x', { shape: [data.length], data }]]), { dtype: 'BF16' });
    expect(await readOne('x')).toEqual(rounding.map(([, expected]) => expected));
  });

  test('F16 rounds to nearest, ties to even', async () => {
    const rounding: [number, number][] = [
      [1 + 2 ** -11, 1], // tie, 1 is even
      [1 + 3 * 2 ** -11, 1 + 2 ** -9], // tie, up to even
      [1 + 2 ** -11 + 2 ** -20, 1 + 2 ** -10],
      [2 - 2 ** -12, 2], // carries into the exponent
      [65519.99609375, 65504], // the last float32 that does not overflow
      [2 ** -14 - 2 ** -26, 2 ** -14], // rounds up to the first normal number
      [2 ** -24, 2 ** -24],
      [2 ** -25, 0], // tie, 0 is even
      [3 * 2 ** -25, 2 ** -23], // tie, up to even
      [-(2 ** -25) * 1.5, -(2 ** -24)],
      [2 ** -140, 0],
      [-0, -0],
      [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
      [Number.NaN, Number.NaN],
    ];
    const data = Float32Array.from(rounding, ([value]) => value);
    await writeSafetensors(path, new Map([['x', { shape: [data.length], data }]]), { dtype: 'F16' });
    expect(await readOne('x')).toEqual(rounding.map(([, expected]) => expected));
  });

  test('every F16 number comes back as itself', async () => {
    // All 2^16 bit patterns but the NaNs, as numpy.float16 defines them: (1 + f/1024) 2^(e-15), or f 2^-24.
    const data = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
      const [sign, e, f] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
      if (e === 31) return sign * Number.POSITIVE_INFINITY;
      return sign * (e === 0 ? f * 2 ** -24 : (1 + f / 1024) * 2 ** (e - 15));
    });
    await writeSafetensors(path, new Map([['x', { shape: [data.length], data }]]), { dtype: 'F16' });
    const file = await SafetensorsFile.open(path);
    expect((await file.read('x')).data).toEqual(data);
    await file.close();
  });

  test.each([
    ['F16', 65520, '65504', 'choose BF16 or F32'],
    ['F16', -1e6, '65504', 'choose BF16 or F32'],
    ['BF16', 3.4028234663852886e38, '3.39e38', 'choose F32'],
  ] as const)('a number that %s cannot hold, %d, names its tensor', async (dtype, value, end, hint) => {
    const tensors = new Map([['big', { shape: [2], data: Float32Array.of(1, value) }]]);
    await expect(writeSafetensors(path, tensors, { dtype })).rejects.toMatchObject({
      code: 'CHECKPOINT',
      message: `tensor "big" holds ${Math.fround(value)}, ${dtype} ends at ${end}: it cannot be stored so`,
      hint,
    });
    expect(await readdir(dirname(path))).toEqual([]);
  });

  test('a shape that does not fit its data is refused', async () => {
    const wrong = new Map([['x', { shape: [3], data: Float32Array.of(1) }]]);
    await expect(writeSafetensors(path, wrong)).rejects.toThrow('holds 3, got 1');
  });
});
