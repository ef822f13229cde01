import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// The example itself: it imports nothing of ours.
import { open, patchesOf } from '../../../examples/onnx/score.mjs';
import { type RgbImage, Rng } from '../../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import { lastLogits } from '../../../src/model/generate-prefill.ts';
import {
  adapterParameters,
  collate,
  createAdapter,
  disposeParameters,
  exportModel,
  generate,
  loadModel,
  loraSettingsSchema,
  preprocess,
  promptSequence,
  saveModel,
} from '../../../src/model/index.ts';

const MODEL = fileURLToPath(new URL('../../../models/qwen2.5-vl-mini', import.meta.url));
const OPTIONS = {
  width: 112,
  height: 84,
  question: 'Reason about the image quality, then score it.',
  maxNewTokens: 24,
};

let scratch: string;
const at = (name: string): string => join(scratch, name);
beforeAll(async () => {
  await startEngine({ threads: 2 });
  scratch = await mkdtemp(join(tmpdir(), 'q-ponder-export-'));
  const model = await loadModel(MODEL);
  model.parameters.adapter = createAdapter(
    model.config,
    loraSettingsSchema.parse({ vision: true }),
    new Rng(1),
  );
  const rng = new Rng(2);
  for (const [name, variable] of adapterParameters(model.parameters.adapter)) {
    if (!name.endsWith('lora_B.weight')) continue;
    const values = Float32Array.from({ length: variable.size }, () => rng.normal(0, 0.02));
    tf.tidy(() => variable.assign(tf.tensor(values, variable.shape)));
  }
  await saveModel(model, at('adapter'));
  disposeParameters(model.parameters);
  await exportModel(MODEL, at('plain'), OPTIONS);
  await exportModel(at('adapter'), at('adapted'), OPTIONS);
  await exportModel(at('adapter'), at('beside'), { ...OPTIONS, externalData: 'always' });
});
afterAll(async () => {
  stopEngine();
  await rm(scratch, { recursive: true, force: true });
});

/** Smooth colours, so that pictures differ in what they show. */
function picture(seed: number): RgbImage {
  const rng = new Rng(seed);
  const [a, b, c] = [rng.uniform(0, 9), rng.uniform(0, 9), rng.uniform(20, 120)];
  const data = new Uint8Array(112 * 84 * 3);
  for (let i = 0; i < data.length; i++) {
    const [x, y] = [Math.floor(i / 3) % 112, Math.floor(i / 336)];
    data[i] = 128 + c * Math.sin(a + x / (5 + (i % 3))) * Math.cos(b + y / 7);
  }
  return { width: 112, height: 84, data };
}

describe.each([
  ['a model', 'plain', () => MODEL],
  ['an adapter', 'adapted', () => at('adapter')],
  ['an adapter, weights beside,', 'beside', () => at('adapter')],
])('%s as ONNX, run by onnxruntime alone', (_, exported, folder) => {
  it('writes the greedy tokens of generate, after the same first logits', async () => {
    const model = await loadModel(folder());
    const { answer } = await open(at(exported));
    for (const seed of [1, 2, 3]) {
      const image = picture(seed);
      const content = [{ type: 'image' as const }, { type: 'text' as const, text: OPTIONS.question }];
      const prompt = promptSequence(model, [{ role: 'user', content }], [preprocess(image, model.processor)]);
      const options = { temperature: 0, maxNewTokens: OPTIONS.maxNewTokens, rng: new Rng(1) };
      const expected = (await generate(model, [prompt], options))[0]![0]!;
      const { tokens, firstLogits } = await answer(image.data);
      expect(tokens).toEqual(expected.tokenIds);
      const logits = tf.tidy(() => [...lastLogits(model, collate([prompt], model.config)).dataSync()]);
      const apart = Math.max(...logits.map((value, i) => Math.abs(value - firstLogits[i]!)));
      expect(apart).toBeLessThan(1e-4 * Math.max(...logits.map(Math.abs)));
    }
    disposeParameters(model.parameters);
  });
});

it('takes the pixel values of the processor', async () => {
  const model = await loadModel(MODEL);
  const image = picture(4);
  const { facts } = await open(at('plain'));
  const { patches } = preprocess(image, model.processor);
  const ours = patchesOf(image.data, facts.picture);
  expect(ours.length).toBe(patches.length);
  expect(ours.reduce((most, value, i) => Math.max(most, Math.abs(value - patches[i]!)), 0)).toBeLessThan(
    1e-5,
  );
  disposeParameters(model.parameters);
});

it('refuses a folder that holds something, and leaves nothing where it fails', async () => {
  await expect(exportModel(MODEL, at('plain'), OPTIONS)).rejects.toThrow(/holds \d+ file/);
  await expect(exportModel(at('nowhere'), at('none'), OPTIONS)).rejects.toThrow();
  expect(await readdir(scratch)).not.toContain('none');
});
