import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InterruptedError, Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import { SafetensorsFile } from '../../src/formats/index.ts';
import {
  type ConvertOptions,
  convertModel,
  createModel,
  exportParameters,
  initialValues,
  loadModel,
  loadModelFormat,
  readModelMetadata,
  saveModel,
} from '../../src/model/index.ts';
import { tinyFolder } from './tiny-folder.ts';

let folder: string;
let output: string;

beforeAll(() => tf.setBackend('cpu'));
beforeEach(async () => {
  folder = await tinyFolder();
  output = join(folder, '..', `${folder.split('/').at(-1)}-converted`);
  const format = await loadModelFormat(folder);
  const model = createModel(format, initialValues(format.config, new Rng(1)));
  await saveModel(model, folder, { dtype: 'F32', metadata: { stage: 'grpo', step: '7' } });
});

const options = (changes: Partial<ConvertOptions> = {}): ConvertOptions => ({
  dtype: 'F32',
  maxShardBytes: 5e9,
  names: 'released',
  ...changes,
});

describe('convertModel', () => {
  test('F32 to F32 in shards under new names and back gives the bytes that it came from', async () => {
    const back = `${output}-back`;
    await convertModel(folder, output, options({ names: 'new', maxShardBytes: 80_000 }));
    expect((await readdir(output)).filter((name) => name.startsWith('model-')).length).toBeGreaterThan(1);
    await convertModel(output, back, options());
    for (const name of await readdir(folder)) {
      if (name === 'config.json') continue;
      expect(await readFile(join(back, name)), name).toEqual(await readFile(join(folder, name)));
    }
  });

  test('to BF16 is what saveModel writes as BF16', async () => {
    const saved = `${output}-saved`;
    await convertModel(folder, output, options({ dtype: 'BF16' }));
    await saveModel(await loadModel(folder), saved, {
      dtype: 'BF16',
      metadata: await readModelMetadata(folder),
    });
    for (const name of ['model.safetensors', 'config.json']) {
      expect(await readFile(join(output, name)), name).toEqual(await readFile(join(saved, name)));
    }
  });

  test('what lies beside the weights is copied; hidden files, folders and other weights are not', async () => {
    await writeFile(join(folder, 'training-images.json'), 'list');
    await writeFile(join(folder, 'LICENSE'), 'terms');
    await writeFile(join(folder, 'optimizer.pt'), 'x');
    await writeFile(join(folder, '.lock'), 'x');
    await mkdir(join(folder, 'runs'));
    await convertModel(folder, output, options());
    expect(await readdir(output)).toEqual([
      'LICENSE',
      'chat_template.json',
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'preprocessor_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'training-images.json',
    ]);
    expect(await readModelMetadata(output)).toEqual({ format: 'pt', stage: 'grpo', step: '7' });
  });

  test('an output that holds files, or is one, is refused and left alone', async () => {
    await mkdir(output);
    await convertModel(folder, output, options()); // empty is allowed
    await expect(convertModel(folder, output, options())).rejects.toMatchObject({
      code: 'CONFIG',
      message: `${output} holds 7 file(s) already`,
    });
    await expect(convertModel(folder, folder, options())).rejects.toMatchObject({ code: 'CONFIG' });
    await expect(convertModel(folder, join(folder, 'config.json'), options())).rejects.toMatchObject({
      code: 'CONFIG',
    });
  });

  test.each([
    ['NaN', Number.NaN, 'BF16', 'NaN or infinite, in model.norm.weight'],
    ['too large for the type', 1e5, 'F16', 'tensor "model.norm.weight" holds 100000'],
  ] as const)('a value that is %s stops it and leaves nothing', async (_, value, dtype, message) => {
    const model = await loadModel(folder);
    const norm = model.parameters.get('model.norm.weight')!;
    norm.assign(tf.fill(norm.shape, value));
    await saveModel(model, folder, { dtype: 'F32' });
    await expect(convertModel(folder, output, options({ dtype }))).rejects.toThrow(message);
    await expect(readdir(output)).rejects.toThrow('ENOENT');
  });

  test('a stop leaves nothing', async () => {
    const stop = new AbortController();
    stop.abort(new InterruptedError('stopped'));
    await expect(convertModel(folder, output, options({ signal: stop.signal }))).rejects.toThrow('stopped');
    await expect(readdir(output)).rejects.toThrow('ENOENT');
  });

  test('tensors of mixed types become one type with the same values', async () => {
    const path = join(folder, 'model.safetensors');
    const values = await exportParameters((await loadModel(folder)).parameters);
    await writeFile(path, mixedFile(values));
    await convertModel(folder, output, options());
    const file = await SafetensorsFile.open(join(output, 'model.safetensors'));
    await file.close();
    expect(new Set([...file.tensors.values()].map(({ dtype }) => dtype))).toEqual(new Set(['F32']));
    const got = await exportParameters((await loadModel(output)).parameters);
    expect(got.get('model.norm.weight')!.data).toEqual(new Float32Array(16).fill(0.5));
    expect(got.get('model.embed_tokens.weight')).toEqual(values.get('model.embed_tokens.weight'));
  });
});

/** A file as other programs write it: all F32 but the last norm, which is F16 and 0.5 everywhere. */
function mixedFile(values: ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }>): Buffer {
  const header: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let at = 0;
  for (const [name, { shape, data }] of values) {
    const half = name === 'model.norm.weight';
    const part = half
      ? Buffer.from(new Uint16Array(data.length).fill(0x3800).buffer)
      : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    header[name] = { dtype: half ? 'F16' : 'F32', shape, data_offsets: [at, at + part.length] };
    parts.push(part);
    at += part.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...parts]);
}
