/**
 * Writes the logits of a text-only sequence for the checks in Python:
 *
 *     npx tsx scripts/reference/write-logits.ts MODEL_OR_ADAPTER_FOLDER OUTPUT.json
 */
import { writeFileSync } from 'node:fs';
import { startEngine, tf } from '../../src/engine/index.ts';
import { collate, forward, languageHead, loadAnyModel } from '../../src/model/index.ts';

const [folder, output] = process.argv.slice(2) as [string, string];
await startEngine();
const model = await loadAnyModel(folder);
const tokenIds = model.tokenizer.encode('The image is blurred and noisy, and the quality is poor.');
const batch = collate(
  [{ tokenIds, roles: tokenIds.map(() => 'prompt' as const), images: [] }],
  model.config,
  {
    padTo: 1,
  },
);
const logits = tf.tidy(() => {
  const hidden = tf.reshape(forward(model, batch), [batch.length, model.config.text.hiddenSize]);
  return languageHead(model.parameters, model.config.text, hidden as tf.Tensor2D);
});
writeFileSync(output, `${JSON.stringify({ tokenIds, logits: [...logits.dataSync()] })}\n`);
