import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import onnxProto from 'onnx-proto';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InterruptedError, Rng, silentProgress } from '../../../src/core/index.ts';
import { startEngine, stopEngine } from '../../../src/engine/index.ts';
import { externalDataFor } from '../../../src/model/export/external-data.ts';
import { EXTERNAL_DATA_FILE, exportModel, loadModelFormat, readWeights } from '../../../src/model/index.ts';

const MODEL = fileURLToPath(new URL('../../../models/qwen2.5-vl-mini', import.meta.url));
const LARGE = fileURLToPath(new URL('../../../models/qwen2.5-vl-3b', import.meta.url));
const OPTIONS = { width: 112, height: 84, question: 'How good is it?', maxNewTokens: 8 };
const SMALLEST = 4096;
const FILES = ['prompt.onnx', 'token.onnx'];

let scratch: string;
const at = (...names: string[]): string => join(scratch, ...names);
beforeAll(async () => {
  await startEngine({ threads: 2 });
  scratch = await mkdtemp(join(tmpdir(), 'q-ponder-external-'));
  await exportModel(MODEL, at('inside'), { ...OPTIONS, externalData: 'never' });
  await exportModel(MODEL, at('beside'), {
    ...OPTIONS,
    externalData: 'always',
    smallestExternalTensor: SMALLEST,
  });
});
afterAll(async () => {
  stopEngine();
  await rm(scratch, { recursive: true, force: true });
});

interface StoredTensor {
  name: string;
  /** Bytes that shape and type ask for. */
  size: number;
  inside: boolean;
  keys: Record<string, string>;
}

const ELEMENT_BYTES: Record<number, number> = { 1: 4, 6: 4, 7: 8, 9: 1, 11: 8 };

async function tensorsOf(path: string): Promise<StoredTensor[]> {
  const { graph } = onnxProto.onnx.ModelProto.decode(await readFile(path));
  return graph!.initializer!.map((tensor) => ({
    name: tensor.name!,
    size: tensor.dims!.reduce<number>((product, n) => product * Number(n), ELEMENT_BYTES[tensor.dataType!]!),
    inside: tensor.dataLocation !== 1,
    keys: Object.fromEntries((tensor.externalData ?? []).map(({ key, value }) => [key!, value!])),
  }));
}

describe('weights beside the files', () => {
  it('gives the very logits, keys and values of weights inside', async () => {
    const rng = new Rng(3);
    const pixels = Float32Array.from({ length: 48 * 1176 }, () => rng.normal(0, 1));
    const answers = [];
    for (const folder of ['inside', 'beside']) {
      const prompt = await InferenceSession.create(at(folder, 'prompt.onnx'));
      const first = await prompt.run({ pixel_values: new Tensor('float32', pixels, [48, 1176]) });
      const token = await InferenceSession.create(at(folder, 'token.onnx'));
      const past = Object.entries(first)
        .filter(([name]) => name.startsWith('present'))
        .map(([name, tensor]) => [name.replace('present', 'past'), tensor]);
      const whole = (value: number) => new Tensor('int32', Int32Array.of(value), [1]);
      const second = await token.run({ ...Object.fromEntries(past), token: whole(9), position: whole(40) });
      answers.push([first, second].map((all) => Object.entries(all).map(([name, { data }]) => [name, data])));
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  it.each(FILES)('%s refers to aligned places in bounds, one for each large tensor', async (file) => {
    const { size: end } = await stat(at('beside', EXTERNAL_DATA_FILE));
    const tensors = await tensorsOf(at('beside', file));
    expect(tensors.filter(({ inside, size }) => inside !== size < SMALLEST)).toEqual([]);
    for (const { name, size, keys } of tensors.filter(({ inside }) => !inside)) {
      expect([name, keys.location, Number(keys.length)]).toEqual([name, EXTERNAL_DATA_FILE, size]);
      expect([name, Number(keys.offset) % 4096]).toEqual([name, 0]);
      expect(Number(keys.offset) + Number(keys.length)).toBeLessThanOrEqual(end);
    }
  });

  it('lets the two files share what both read, and nothing overlap', async () => {
    const both = await Promise.all(FILES.map((file) => tensorsOf(at('beside', file))));
    const places = both.map((tensors) => new Map(tensors.map(({ name, keys }) => [name, keys])));
    const language = [...places[1]!.keys()].filter((name) => name.startsWith('model.'));
    for (const name of language) expect([name, places[1]!.get(name)]).toEqual([name, places[0]!.get(name)]);
    const distinct = new Map<number, number>();
    for (const { inside, keys } of both.flat()) {
      if (!inside) distinct.set(Number(keys.offset), Number(keys.length));
    }
    let free = 0;
    for (const [offset, length] of [...distinct].sort(([a], [b]) => a - b)) {
      expect(offset).toBeGreaterThanOrEqual(free);
      expect(offset - free).toBeLessThan(4096);
      free = offset + length;
    }
    expect((await stat(at('beside', EXTERNAL_DATA_FILE))).size).toBe(free);
  });

  it('holds the bytes of the weights at their places', async () => {
    const { config } = await loadModelFormat(MODEL);
    const bytes = await readFile(at('beside', EXTERNAL_DATA_FILE));
    const named = new Map(
      (await tensorsOf(at('beside', 'prompt.onnx'))).map((tensor) => [tensor.name, tensor]),
    );
    for (const [name, { data }] of await readWeights(MODEL, config)) {
      const { inside, keys } = named.get(name)!;
      expect([name, inside]).toEqual([name, data.byteLength < SMALLEST]);
      if (inside) continue;
      const [offset, length] = [Number(keys.offset), Number(keys.length)];
      const values = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      expect([name, bytes.subarray(offset, offset + length).equals(values)]).toEqual([name, true]);
    }
  });

  it('is named in export.json, and absent from an export that holds its weights', async () => {
    const factsOf = async (folder: string) => JSON.parse(await readFile(at(folder, 'export.json'), 'utf8'));
    expect((await factsOf('beside')).weights).toBe(EXTERNAL_DATA_FILE);
    expect((await factsOf('inside')).weights).toBeNull();
    expect(await readdir(at('inside'))).not.toContain(EXTERNAL_DATA_FILE);
  });
});

describe('where weights go', () => {
  const rules = { smallestTensor: SMALLEST };
  const format = async (folder: string) => ({
    folder,
    config: (await loadModelFormat(MODEL)).config,
  });

  it('is inside by default for the miniature, beside from half a gigabyte on', async () => {
    const mini = await format(MODEL);
    expect(externalDataFor(mini, 100, { ...rules, rule: 'auto' })).toBeUndefined();
    expect(externalDataFor(mini, 100, { ...rules, rule: 'always' })).toBeDefined();
    // The mask of 12,000 tokens alone is 576 MB.
    expect(externalDataFor(mini, 12_000, { ...rules, rule: 'auto' })).toBeDefined();
    expect(externalDataFor(mini, 12_000, { ...rules, rule: 'never' })).toBeUndefined();
  });

  it('is refused inside above what a protobuf holds', async () => {
    const mini = await format(MODEL);
    expect(() => externalDataFor(mini, 25_000, { ...rules, rule: 'never' })).toThrow(
      /needs 2\.5 GB .* at most 1\.9 GB/,
    );
  });
});

describe('an export that does not come to its end leaves nothing', () => {
  it('where it is stopped while the weights are written', async () => {
    const stop = new AbortController();
    const progress = {
      ...silentProgress,
      start: () => stop.abort(new InterruptedError('stopped')),
    };
    const options = { ...OPTIONS, externalData: 'always', progress, signal: stop.signal } as const;
    await expect(exportModel(MODEL, at('stopped'), options)).rejects.toThrow(InterruptedError);
    expect((await readdir(scratch)).filter((name) => name.includes('stopped'))).toEqual([]);
  });

  it('where the model is a preset without weights, before anything is written', async () => {
    await expect(exportModel(LARGE, at('deep', 'preset'), OPTIONS)).rejects.toMatchObject({
      code: 'CHECKPOINT',
    });
    expect(await readdir(scratch)).not.toContain('deep');
  });
});
