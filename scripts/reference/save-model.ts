/**
 * Saves a model of any family again and writes beside it what it says, for scripts/reference/check-saved-model.py to compare
 * with the transformers library:
 *
 *     npx tsx scripts/reference/save-model.ts MODEL_FOLDER NEW_FOLDER [F32|BF16]
 *     python scripts/reference/check-saved-model.py NEW_FOLDER
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RgbImage, Rng } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/index.ts';
import { startEngine, tf } from '../../src/engine/index.ts';
import {
  type AnyModel,
  type ChatMessage,
  collate,
  forward,
  generate,
  languageHead,
  loadAnyModel,
  neverSampledTokenIds,
  preprocess,
  promptSequence,
  type Sequence,
  saveModel,
} from '../../src/model/index.ts';

const NEW_TOKENS = 80;
const QUESTION = 'Rate the quality of the image.';
const picture = { type: 'image' as const };

/** A conversation and the sizes [width, height] of its pictures, some of which are resized. */
const CONVERSATIONS: { messages: ChatMessage[]; sizes: [number, number][] }[] = [
  { messages: [{ role: 'user', content: [picture, { type: 'text', text: QUESTION }] }], sizes: [[112, 112]] },
  { messages: [{ role: 'user', content: [picture, { type: 'text', text: QUESTION }] }], sizes: [[301, 130]] },
  {
    messages: [
      { role: 'system', content: 'You judge photographs.' },
      { role: 'user', content: [picture, picture, { type: 'text', text: 'Which one is better?' }] },
    ],
    sizes: [
      [84, 140],
      [57, 99],
    ],
  },
  { messages: [{ role: 'user', content: '请评价。 What is blur? 😀' }], sizes: [] },
];

const [source, folder, dtype = 'F32'] = process.argv.slice(2);
if (source === undefined || folder === undefined || (dtype !== 'F32' && dtype !== 'BF16')) {
  throw new Error('usage: save-model.ts MODEL_FOLDER NEW_FOLDER [F32|BF16]');
}
await startEngine();
await saveModel(await loadAnyModel(source), folder, { dtype });
// Read back, so that both sides see the same rounded weights.
const model = await loadAnyModel(folder);
const said = [];
const { processor } = model;
for (const [index, { messages, sizes }] of CONVERSATIONS.entries()) {
  if (processor === null && sizes.length > 0) continue;
  const pictures = sizes.map(([width, height], k) => scene(width, height, `${index} ${k}`));
  const files = pictures.map((_, k) => `picture-${index}-${k}.png`);
  for (const [k, image] of pictures.entries())
    await writeFile(join(folder, files[k]!), await encodePng(image));
  const images = pictures.map((image) => preprocess(image, processor!));
  const prompt = promptSequence(model, messages, images);
  const completions = await generate(model, [prompt], {
    maxNewTokens: NEW_TOKENS,
    temperature: 0,
    rng: new Rng(1),
  });
  const { tokenIds, text } = completions[0]![0]!;
  said.push({
    messages,
    pictures: files,
    tokenIds: prompt.tokenIds,
    logits: packed(logitsOf(model, prompt)),
    greedy: { tokenIds, text },
  });
}
const recorded = {
  newTokens: NEW_TOKENS,
  banned: neverSampledTokenIds(model.config, model.tokenizer),
  ends: model.tokenizer.endOfSequenceIds,
  conversations: said,
};
await writeFile(join(folder, 'q-ponder.json'), `${JSON.stringify(recorded)}\n`);
console.log(`${folder}: ${said.length} conversations`);

/** [length, vocabulary] */
function logitsOf({ config, parameters }: AnyModel, prompt: Sequence): Float32Array {
  const batch = collate([prompt], config, { padTo: 1 });
  return tf.tidy(() => {
    const hidden = tf.reshape(forward({ config, parameters }, batch), [batch.length, config.text.hiddenSize]);
    return languageHead(parameters, config.text, hidden as tf.Tensor2D).dataSync() as Float32Array;
  });
}

function packed(values: Float32Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** Gradients with noise: neither flat nor all noise. */
function scene(width: number, height: number, name: string): RgbImage {
  const rng = new Rng(name);
  const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const x = Math.floor(i / 3) % width;
    const y = Math.floor(i / 3 / width);
    const value = [(255 * x) / width, (255 * y) / height, 127 + 127 * Math.sin((x + y) / 9)][i % 3]!;
    return Math.min(255, Math.max(0, Math.round(value + rng.normal(0, 12))));
  });
  return { width, height, data };
}
