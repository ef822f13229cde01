import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSize } from '../../../src/cli/stages/model-convert.ts';
import { describeModel } from '../../../src/cli/stages/model-inspect.ts';
import { writeSafetensors } from '../../../src/formats/index.ts';
import { inspectModel, type ModelInspection } from '../../../src/model/index.ts';
import { MAIN, runChild } from '../run-child.ts';

const MINI = 'models/qwen2.5-vl-mini';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-model-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('parseSize', () => {
  it.each([
    ['5GB', 5e9],
    ['500 MB', 5e8],
    ['1.5gib', 1.5 * 2 ** 30],
    ['100KB', 1e5],
    ['5', Number.NaN],
    ['GB', Number.NaN],
    ['-1GB', Number.NaN],
    ['1TB', Number.NaN],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });
});

describe('model inspect', () => {
  it('says the parameters of the miniature, 1,714,016 in all, and its limits', async () => {
    const child = await runChild(MAIN, 'model', 'inspect', MINI);
    expect(child).toMatchObject({ code: 0, stderr: '' });
    expect(child.stdout).toContain(`${MINI}: Qwen2.5-VL, 1.71 M parameters, BF16, 3.43 MB in 1 file(s)\n`);
    expect(child.stdout).toContain('    merger                492448  28.7 %, BF16 985 kB\n');
    expect(child.stdout).toContain('  images: 3136 to 50176 pixels, at most 64 tokens\n');
    expect(child.stdout).toContain('  made by: stage base, seed 0\n  trained on: 30499 images\n');
  });

  it('--json gives the same as the library', async () => {
    const child = await runChild(MAIN, 'model', 'inspect', MINI, '--json');
    expect(JSON.parse(child.stdout)).toEqual(await inspectModel(MINI));
  });

  it('of a folder that is no model ends with 5', async () => {
    expect(await runChild(MAIN, 'model', 'inspect', folder)).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(/^error: \S+ is empty: a model folder was expected/),
    });
  });

  it('of an adapter that does not fit its base ends with 5 and says why', async () => {
    const adapter = join(folder, 'misfit');
    await mkdir(adapter);
    await writeSafetensors(
      join(adapter, 'adapter_model.safetensors'),
      new Map(
        ['A', 'B'].map((half) => [
          `base_model.model.model.language_model.layers.0.self_attn.q_proj.lora_${half}.weight`,
          { shape: [2, 3], data: new Float32Array(6) },
        ]),
      ),
    );
    await writeFile(
      join(adapter, 'adapter_config.json'),
      JSON.stringify({ peft_type: 'LORA', r: 2, lora_alpha: 4, base_model_name_or_path: resolve(MINI) }),
    );
    expect(await runChild(MAIN, 'model', 'inspect', adapter)).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(
        /does not fit the model it is for:\n {2}.*lora_A\.weight is \[2, 3\] instead of/,
      ),
    });
  });

  it('names an adapter, views and images that were not recorded', async () => {
    const plain = await inspectModel(MINI);
    const inspection: ModelInspection = {
      ...plain,
      folder: 'adapter',
      base: 'base',
      adapterParameters: 12_300,
      images: { ...plain.images!, mostTokens: 64, views: { shortSide: 256, crop: 224, count: 5 } },
      provenance: {
        metadata: {},
        trainingImages: { complete: false, distinct: 7, stages: [] },
      },
    };
    const lines = describeModel(inspection);
    expect(lines[0]).toBe(
      'adapter: an adapter of 12.3 k parameters on base, 1.71 M parameters, BF16, 3.43 MB in 1 file(s)',
    );
    expect(lines.slice(-3)).toEqual([
      '  images: 5 view(s) of 224x224 at a short side of 256, 64 tokens each',
      '  made by: not recorded',
      '  trained on: 7 images, and others that are not recorded',
    ]);
  });
});

describe('model convert', () => {
  it('writes shards, prints the folder, and refuses to write there again', async () => {
    const output = join(folder, 'converted');
    const args = ['model', 'convert', MINI, '--out', output, '--dtype', 'F32', '--max-shard-size', '2MB'];
    expect(await runChild(MAIN, ...args, '--quiet')).toEqual({
      code: 0,
      signal: null,
      stdout: `${output}\n`,
      stderr: '',
    });
    expect(await readdir(output)).toContain('model.safetensors.index.json');
    const { provenance, parameters } = await inspectModel(output);
    expect([parameters, provenance]).toEqual([1_714_016, (await inspectModel(MINI)).provenance]);
    expect(await runChild(MAIN, ...args, '--quiet')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${output} holds `),
    });
  });

  it.each([
    ['--max-shard-size', '5', 'maxShardSize: write a number and KB'],
    ['--dtype', 'F64', 'dtype: '],
    ['--names', 'old', 'names: '],
  ])('%s %s ends with 2', async (option, value, message) => {
    const child = await runChild(MAIN, 'model', 'convert', MINI, '--out', join(folder, 'no'), option, value);
    expect(child).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });
});
