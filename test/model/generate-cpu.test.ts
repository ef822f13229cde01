import { afterAll, expect, it } from 'vitest';
import { type Completion, Rng } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { disposeParameters, generate } from '../../src/model/index.ts';
import { mixedPrompts, tinyModel } from './generate-fixture.ts';

afterAll(stopEngine);

async function generateOn(backend: 'cpu' | 'onnx', topP: number): Promise<Completion[]> {
  await startEngine(backend === 'onnx' ? { backend, threads: 2 } : { backend });
  const model = tinyModel();
  const options = { samplesPerPrompt: 2, maxNewTokens: 10, temperature: 0.9, topP, rng: new Rng(6) };
  const before = tf.memory().numTensors;
  const completions = await generate(model, mixedPrompts(), options);
  expect(tf.memory().numTensors).toBe(before);
  disposeParameters(model.parameters);
  stopEngine();
  return completions.flat();
}

it.each([1, 0.8])('plain JavaScript and the compiled loop draw the same tokens, top-p %f', async (topP) => {
  const plain = await generateOn('cpu', topP);
  const compiled = await generateOn('onnx', topP);
  expect(compiled.map((c) => c.tokenIds)).toEqual(plain.map((c) => c.tokenIds));
  compiled.forEach(({ logProbabilities }, i) => {
    logProbabilities.forEach((x, step) => {
      expect(x).toBeCloseTo(plain[i]!.logProbabilities[step]!, 4);
    });
  });
});
