import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '../../../src/core/index.ts';
import { readLabelTable } from '../../../src/data/readers/index.ts';
import { matVariables } from '../../../src/data/readers/mat/index.ts';

/** Written by scipy.io.savemat 1.17: AllMOS_release = [63.5 25.25 -0.001], names = {'t1.bmp'; '2.JPG'; 'größe.png'}. */
const PLAIN = Buffer.from(
  'TUFUTEFCIDUuMCBNQVQtZmlsZSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAAAAAAAAAAAAABSU0OAAAAWAAAAAYAAAAIAAAABgAAAAAAAAAFAAAACAAAAAEAAAADAAAAAQAAAA4AAABBbGxNT1NfcmVsZWFzZQAACQAAABgAAAAAAAAAAMBPQAAAAAAAQDlA/Knx0k1iUL8OAAAA+AAAAAYAAAAIAAAAAQAAAAAAAAAFAAAACAAAAAMAAAABAAAAAQAAAAUAAABuYW1lcwAAAA4AAAA4AAAABgAAAAgAAAAEAAAAAAAAAAUAAAAIAAAAAQAAAAYAAAABAAAAAAAAABAAAAAGAAAAdDEuYm1wAAAOAAAAOAAAAAYAAAAIAAAABAAAAAAAAAAFAAAACAAAAAEAAAAFAAAAAQAAAAAAAAAQAAAABQAAADIuSlBHAAAADgAAAEAAAAAGAAAACAAAAAQAAAAAAAAABQAAAAgAAAABAAAACQAAAAEAAAAAAAAAEAAAAAsAAABncsO2w59lLnBuZwAAAAAA',
  'base64',
);
/** The same, compressed: small = uint8 [1 2 200], names, big = int32 [1 -70000 3], title = 'abc', m = eye(2). */
const COMPRESSED = Buffer.from(
  'TUFUTEFCIDUuMCBNQVQtZmlsZSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAAAAAAAAAAAAABSU0PAAAALgAAAHic42NgYLAAYjYg5gBiTgYIYIXyGYGYGUqDxIpzE3NygDQTUJSR6QQDADeBA14PAAAAYQAAAHic42NgYPgBxGxAzAHEjAwQwArlM0PFGKFieYm5qcVAmg+ILZD0saDpY4TKwcwTgPJLDPWScguI08+Kph/EN9LzCnCH2u9AQD8nmn5uIE4vOrzt8PxUvYK8dLA4AFFbDbcPAAAAMAAAAHic42NgYHAAYjYg5gBiHgYIYIXyGYGYGUwzMyRlpoPFeaDiE979+88MVQ8AZEQFQA8AAAAuAAAAeJzjY2BgsABiNiDmAGIWBghghfIZgZgZSoPESjJLclKBtABQNDEpmQEAOWEDyw8AAAAsAAAAeJzjY2BgCABiNiDmgNIgwArlM0ExIxDmAmlOIFZggIEP9gxYwQd7AGL4A3o=',
  'base64',
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mat-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const values = (bytes: Buffer): Record<string, unknown> =>
  Object.fromEntries(matVariables(bytes, 'x.mat').map((variable) => [variable.name, variable.values]));

describe('matVariables', () => {
  it('reads doubles and cells of UTF-8 text as scipy wrote them', () => {
    expect(values(PLAIN)).toEqual({
      AllMOS_release: [63.5, 25.25, -0.001],
      names: ['t1.bmp', '2.JPG', 'größe.png'],
    });
  });

  it('reads compressed variables of narrow whole numbers, text and matrices', () => {
    expect(values(COMPRESSED)).toEqual({
      small: [1, 2, 200],
      names: ['t1.bmp', '2.JPG', 'größe.png'],
      big: [1, -70000, 3],
      title: ['abc'],
      m: [1, 0, 0, 1],
    });
  });

  it('throws an InputError, and nothing else, wherever the file is cut', () => {
    for (const bytes of [PLAIN, COMPRESSED]) {
      for (let length = 0; length < bytes.length; length++) {
        // A cut between two variables leaves a shorter file that is whole.
        try {
          matVariables(bytes.subarray(0, length), 'x.mat');
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }
    }
  });

  it('throws an InputError, and nothing else, whatever byte is changed', () => {
    for (let at = 124; at < PLAIN.length; at++) {
      for (const value of [0, 0x7f, 0xff]) {
        const bytes = Buffer.from(PLAIN);
        bytes[at] = value;
        try {
          matVariables(bytes, 'x.mat');
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }
    }
  });

  it('refuses an array that claims more values than the file can hold', () => {
    const bytes = Buffer.from(PLAIN);
    // The second dimension of the first array lies 40 bytes after the header: tag 8, flags 16, tag 8, rows 4, columns.
    bytes.writeUInt32LE(0x7fffffff, 128 + 8 + 16 + 8 + 4);
    expect(() => matVariables(bytes, 'x.mat')).toThrow('an array has the size 1 x 2147483647');
  });

  it('names version 7.3 and its remedy', () => {
    const bytes = Buffer.concat([Buffer.from('MATLAB 7.3 MAT-file, Platform: PCWIN64'.padEnd(512))]);
    expect(() => matVariables(bytes, 'x.mat')).toThrow('version 7.3 (HDF5), which is not supported');
  });
});

describe('readLabelTable of a MAT-file', () => {
  it('takes vectors of one length as columns, whether rows or columns, and leaves out matrices', async () => {
    const path = join(folder, 'labels.mat');
    await writeFile(path, COMPRESSED);
    const { columns, rows } = await readLabelTable(path);
    expect(columns).toEqual(['small', 'names', 'big']);
    expect(rows[1]).toEqual({ place: 2, cells: { small: 2, names: '2.JPG', big: -70000 } });
  });
});
