import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InputError, readAllJsonl, readJsonl, StorageError, writeJsonl } from '../../src/core/index.ts';

const schema = z.object({ id: z.string(), mos: z.number() });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-jsonl-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(text: string): Promise<string> {
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, text);
  return path;
}

describe('jsonl', () => {
  it('writes one line per row and reads the rows back', async () => {
    const path = join(folder, 'written.jsonl');
    const rows = [
      { id: 'a\nb', mos: 0.1 + 0.2 },
      { id: '\u2028 é 漢 😀', mos: -1e-300 },
    ];
    await writeJsonl(path, rows);
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(3);
    expect(await readAllJsonl(path, schema)).toEqual(rows);
  });

  it('skips blank lines and takes CRLF and a missing last line end', async () => {
    const path = await fileOf('{"id":"a","mos":1}\r\n\r\n  \n{"id":"b","mos":2}');
    expect(await readAllJsonl(path, schema)).toEqual([
      { id: 'a', mos: 1 },
      { id: 'b', mos: 2 },
    ]);
  });

  it('gives no rows for an empty file', async () => {
    expect(await readAllJsonl(await fileOf(''), schema)).toEqual([]);
  });

  it('names file and line of a row that is not JSON', async () => {
    const path = await fileOf('{"id":"a","mos":1}\n\n{"id":"b","mo');
    const reading = readAllJsonl(path, schema);
    await expect(reading).rejects.toBeInstanceOf(InputError);
    await expect(reading).rejects.toThrow(`${path}:3 is not JSON`);
  });

  it('names file, line and every problem of a row that the schema refuses', async () => {
    const path = await fileOf('{"id":"a","mos":1}\n{"id":7,"mos":"high"}\n');
    const reading = readAllJsonl(path, schema);
    await expect(reading).rejects.toBeInstanceOf(InputError);
    await expect(reading).rejects.toThrow(new RegExp(`${path}:2 has 2 problem\\(s\\): id: .*; mos: `));
  });

  it('yields the good rows before a bad one', async () => {
    const path = await fileOf('{"id":"a","mos":1}\nnot json\n');
    const seen: string[] = [];
    await expect(
      (async () => {
        for await (const row of readJsonl(path, schema)) seen.push(row.id);
      })(),
    ).rejects.toThrow();
    expect(seen).toEqual(['a']);
  });

  it('reports a missing file as a storage error that names it', async () => {
    const path = join(folder, 'none.jsonl');
    const reading = readAllJsonl(path, schema);
    await expect(reading).rejects.toBeInstanceOf(StorageError);
    await expect(reading).rejects.toThrow(path);
  });

  it('can be left early', async () => {
    const path = await fileOf('{"id":"a","mos":1}\nnot json\n');
    for await (const row of readJsonl(path, schema)) {
      expect(row.id).toBe('a');
      break;
    }
  });
});
