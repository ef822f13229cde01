// A picture to an answer with the files of `q-ponder model export`, without q-ponder:
//
//     node examples/onnx/score.mjs EXPORT_FOLDER PICTURE
//
// Needs onnxruntime-node, sharp and @huggingface/tokenizers, and nothing else.
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Tokenizer } from '@huggingface/tokenizers';
import ort from 'onnxruntime-node';
import sharp from 'sharp';

// Weights beside the files are used where they lie, by both sessions together. Without this each session copies them
// into the order its kernels like best: up to twice as fast for each token, twice the memory, a long start.
const SHARED = { extra: { session: { disable_prepacking: '1' } } };

/**
 * Opens an export; `answer` turns pixels of the exported size (RGB, 8 bits) into tokens, greedily. `options` are those
 * of InferenceSession.create. The models are given by path: with their bytes alone onnxruntime finds no weights.data.
 */
export async function open(folder, options) {
  const facts = JSON.parse(await readFile(join(folder, 'export.json'), 'utf8'));
  const session = options ?? (facts.weights ? SHARED : {});
  const prompt = await ort.InferenceSession.create(join(folder, 'prompt.onnx'), session);
  const token = await ort.InferenceSession.create(join(folder, 'token.onnx'), session);
  const never = new Set(facts.neverSampledTokenIds);
  const best = (logits) => {
    let id = -1;
    for (let i = 0; i < logits.length; i++) if (!never.has(i) && (id < 0 || logits[i] > logits[id])) id = i;
    return id;
  };
  const past = (results) =>
    Object.fromEntries(
      Object.entries(results)
        .filter(([name]) => name.startsWith('present'))
        .map(([name, tensor]) => [name.replace('present', 'past'), tensor]),
    );
  const whole = (value) => new ort.Tensor('int32', Int32Array.of(value), [1]);

  async function answer(pixels) {
    const { pixelValues } = facts.picture;
    const feeds = { pixel_values: new ort.Tensor('float32', patchesOf(pixels, facts.picture), pixelValues) };
    let results = await prompt.run(feeds);
    const firstLogits = results.logits.data;
    const tokens = [];
    for (let position = facts.firstPosition; tokens.length < facts.maxNewTokens; position++) {
      const next = best(results.logits.data);
      tokens.push(next);
      if (facts.endTokenIds.includes(next)) break;
      results = await token.run({ token: whole(next), position: whole(position), ...past(results) });
    }
    return { tokens, firstLogits };
  }
  return { facts, answer };
}

/** pixel_values as Qwen2.5-VL's processor makes them: normalised, in blocks of merge x merge patches, each frame twice. */
export function patchesOf(
  pixels,
  { width, height, patchSize, mergeSize, temporalPatchSize, imageMean, imageStd },
) {
  const out = new Float32Array(width * height * 3 * temporalPatchSize);
  const block = patchSize * mergeSize;
  let at = 0;
  for (let by = 0; by < height; by += block)
    for (let bx = 0; bx < width; bx += block)
      for (let my = 0; my < mergeSize; my++)
        for (let mx = 0; mx < mergeSize; mx++)
          for (let c = 0; c < 3; c++)
            for (let t = 0; t < temporalPatchSize; t++)
              for (let y = 0; y < patchSize; y++)
                for (let x = 0; x < patchSize; x++) {
                  const pixel = (by + my * patchSize + y) * width + bx + mx * patchSize + x;
                  out[at++] = (pixels[3 * pixel + c] / 255 - imageMean[c]) / imageStd[c];
                }
  return out;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder, picture] = process.argv.slice(2);
  if (picture === undefined) exit('usage: node score.mjs EXPORT_FOLDER PICTURE');
  if (!existsSync(join(folder, 'export.json')))
    exit(`${folder} has no export.json: give what model export wrote`);
  if (!existsSync(picture)) exit(`there is no ${picture}`);
  const { facts, answer } = await open(folder);
  const { width, height } = facts.picture;
  const pixels = await sharp(picture)
    .autoOrient()
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .resize(width, height, { fit: 'fill', kernel: 'cubic' })
    .removeAlpha()
    .raw()
    .toBuffer()
    .catch((error) => exit(`${picture} cannot be read: ${error.message}`));
  const { tokens } = await answer(pixels);
  const json = async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  const tokenizer = new Tokenizer(await json('tokenizer.json'), await json('tokenizer_config.json'));
  console.log(tokenizer.decode(tokens, { skip_special_tokens: true }));
}

function exit(message) {
  console.error(message);
  process.exit(2);
}
