import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import { writeTrainingImages } from '../../src/formats/index.ts';
import {
  createAdapter,
  createModel,
  initialValues,
  inspectModel,
  loadModel,
  loadModelFormat,
  loraSettingsSchema,
  requireModelFolder,
  saveModel,
} from '../../src/model/index.ts';
import { changeJson, tinyFolder } from './tiny-folder.ts';

let folder: string;

beforeAll(() => tf.setBackend('cpu'));

async function save(changes: Record<string, unknown> = {}): Promise<void> {
  folder = await tinyFolder(changes);
  const format = await loadModelFormat(folder);
  const model = createModel(format, initialValues(format.config, new Rng(1)));
  await saveModel(model, folder, { maxShardBytes: 40_000, metadata: { stage: 'grpo', step: '70' } });
}
beforeEach(() => save());

describe('inspectModel', () => {
  test('parameters by part, counted by hand from the tiny configuration', async () => {
    const { config } = await loadModelFormat(folder);
    const vocabulary = config.text.vocabularySize;
    const { parts, parameters, weights } = await inspectModel(folder);
    // Vision block: two norms of 16; qkv 48x16+48, proj 16x16+16; gate and up 20x16+20 each, down 16x20+16.
    const visionBlock = 2 * 16 + (48 * 16 + 48) + (16 * 16 + 16) + 2 * (20 * 16 + 20) + (16 * 20 + 16);
    // Layer: two norms of 16; q 32x16+32, k and v 16x16+16 each, o 16x32; gate and up 24x16 each, down 16x24.
    const layer = 2 * 16 + (32 * 16 + 32) + 2 * (16 * 16 + 16) + 16 * 32 + 3 * 24 * 16;
    const expected = [
      ['vision tower', 16 * 3 * 2 * 14 * 14 + 2 * visionBlock],
      ['merger', 16 + (64 * 64 + 64) + (16 * 64 + 16)],
      ['embedding', vocabulary * 16],
      ['language model', 2 * layer + 16],
      ['head', 0],
    ];
    expect(parts.map(({ part, parameters }) => [part, parameters])).toEqual(expected);
    expect(parameters).toBe(expected.reduce((sum, [, count]) => sum + (count as number), 0));
    expect(weights).toMatchObject({ dtypes: ['BF16'], bytes: 2 * parameters });
    expect(weights!.files).toBeGreaterThan(1);
    expect(parts[1]!.stored).toEqual({ bytes: 2 * parts[1]!.parameters, dtypes: ['BF16'] });
  });

  test('a head of its own counts', async () => {
    await save({ tie_word_embeddings: false });
    const { parts } = await inspectModel(folder);
    const [embedding, , head] = parts.slice(2);
    expect(head!.parameters).toBe(embedding!.parameters);
  });

  test('tokens: ids as in config.json, and where the template puts an image', async () => {
    const { config } = await loadModelFormat(folder);
    const { tokens } = await inspectModel(folder);
    expect(tokens.special).toContainEqual({ token: '<|image_pad|>', id: config.tokens.imagePad });
    expect(tokens.special).toContainEqual({ token: '<|im_end|>', id: config.tokens.eos[0] });
    expect(tokens.template).toContain('<|vision_start|><|image_pad|><|vision_end|>TEXT');
  });

  test('image sizes and tokens are those of the published vectors', async () => {
    // Qwen2.5-VL's limits: 1024x768 becomes 1036x756 and 999 tokens; 512x384 becomes 504x392 and 252.
    await changeJson(folder, 'preprocessor_config.json', (json) => ({ ...json, max_pixels: 12_845_056 }));
    const { images } = await inspectModel(folder);
    expect(images).toMatchObject({ minPixels: 3136, maxPixels: 12_845_056, mostTokens: 16_384, views: null });
    expect(images?.examples).toContainEqual({ width: 1024, height: 768, shown: '1036x756', tokens: 999 });
    expect(images?.examples).toContainEqual({ width: 512, height: 384, shown: '504x392', tokens: 252 });
    expect(images?.examples).toContainEqual({
      width: 4000,
      height: 3000,
      shown: '4004x2996',
      tokens: 15_301,
    });
  });

  test('provenance: what the weights say, and how many images the model has seen', async () => {
    expect((await inspectModel(folder)).provenance).toEqual({
      metadata: { format: 'pt', stage: 'grpo', step: '70' },
      trainingImages: null,
    });
    const stage = { dataset: 'd', recordsSha256: 'a'.repeat(64) };
    const [one, two] = ['1'.repeat(16), '2'.repeat(16)];
    await writeTrainingImages(folder, {
      format: 1,
      complete: true,
      stages: [
        { ...stage, stage: 'base', use: 'train', images: [one, two] },
        { ...stage, stage: 'grpo', use: 'validation', images: [two] },
      ],
    });
    expect((await inspectModel(folder)).provenance.trainingImages).toEqual({
      complete: true,
      distinct: 2,
      stages: [
        { stage: 'base', dataset: 'd', use: 'train', images: 2 },
        { stage: 'grpo', dataset: 'd', use: 'validation', images: 1 },
      ],
    });
  });

  test("an adapter's folder: its base is described, and what the adapter adds", async () => {
    const adapted = await loadModel(folder);
    const settings = loraSettingsSchema.parse({ rank: 2, targets: ['q_proj'] });
    adapted.parameters.adapter = createAdapter(adapted.config, settings, new Rng(1));
    const target = join(folder, 'adapter');
    await saveModel(adapted, target, { metadata: { stage: 'cold-start' } });
    const { base, adapterParameters, parameters, provenance } = await inspectModel(target);
    expect(base).toBe(folder);
    expect(adapterParameters).toBe(2 * 2 * (16 + 32)); // two layers, A [2, 16] and B [32, 2]
    expect(parameters).toBe((await inspectModel(folder)).parameters);
    expect(provenance.metadata.stage).toBe('cold-start');
  });

  describe('an adapter that does not fit its base', () => {
    let adapter: string;
    beforeEach(async () => {
      const adapted = await loadModel(folder);
      const settings = loraSettingsSchema.parse({ rank: 2, targets: ['gate_proj'] });
      adapted.parameters.adapter = createAdapter(adapted.config, settings, new Rng(1));
      adapter = join(folder, 'adapter');
      await saveModel(adapted, adapter);
    });
    const setBase = (base: string) =>
      changeJson(adapter, 'adapter_config.json', (json) => ({ ...json, base_model_name_or_path: base }));

    test('by its shapes is an error that names them', async () => {
      await save({ intermediate_size: 20 });
      await setBase(folder);
      const inspecting = inspectModel(adapter);
      await expect(inspecting).rejects.toMatchObject({ exitCode: 5 });
      await expect(inspecting).rejects.toThrow('lora_B.weight is [24, 2] instead of [20, 2]');
    });

    test('by the weights it was trained on is an error, here and before an evaluation', async () => {
      const other = await tinyFolder({});
      const format = await loadModelFormat(other);
      await saveModel(createModel(format, initialValues(format.config, new Rng(2))), other);
      await setBase(other);
      await expect(inspectModel(adapter)).rejects.toThrow(`was trained on another model than ${other}`);
      await expect(requireModelFolder(adapter)).rejects.toThrow('was trained on another model than ');
    });

    test('is described on a base without weights, of which nothing is known but its shapes', async () => {
      const preset = await tinyFolder({});
      await setBase(preset);
      expect(await inspectModel(adapter)).toMatchObject({ base: preset, weights: null });
    });

    test('without its weights is an error', async () => {
      await rm(join(adapter, 'adapter_model.safetensors'));
      await expect(inspectModel(adapter)).rejects.toThrow('but no adapter_model.safetensors');
    });
  });

  test('a preset without weights is described too', async () => {
    folder = await tinyFolder();
    const { weights, parts, provenance } = await inspectModel(folder);
    expect([weights, parts[0]!.stored, provenance.metadata]).toEqual([null, null, {}]);
  });

  test('weights that are there but do not fit are an error', async () => {
    await changeJson(folder, 'config.json', (json) => ({ ...json, intermediate_size: 25 }));
    await expect(inspectModel(folder)).rejects.toThrow('wrong shape');
    await rm(join(folder, 'tokenizer.json'));
    await writeFile(join(folder, 'tokenizer.json'), '{}');
    await expect(inspectModel(folder)).rejects.toThrow('not a BPE tokenizer');
  });
});
