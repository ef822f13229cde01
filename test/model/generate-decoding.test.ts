import { afterAll, beforeAll, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { contextTensors, rowsOf, startDecoding } from '../../src/model/generate-start.ts';
import { collate } from '../../src/model/index.ts';
import { mixedPrompts, TINY, tinyModel } from './generate-fixture.ts';

beforeAll(async () => {
  await startEngine({ threads: 2 });
});
afterAll(stopEngine);

it.each(['captured', 'stepwise'] as const)(
  '%s: finished rows get padding of log-probability 0, and decoding ends with the last row',
  async (decoding) => {
    const model = tinyModel();
    const batch = collate(mixedPrompts(), model.config);
    const rows = rowsOf(batch.size, 1);
    // Ten plain tokens and the two ends of sequence remain, so that every row ends soon.
    const bannedTokenIds = Array.from({ length: 49 }, (_, id) => id).filter(
      (id) => id >= 10 && id !== 40 && id !== 41,
    );
    const sampling = { temperature: 5, topP: 1, bannedTokenIds };
    const rng = new Rng(12);
    const uniforms = Float32Array.from({ length: 64 * rows.size }, () => rng.integer(2 ** 24) / 2 ** 24);
    const options = { maxNewTokens: 65, decoding };
    const started = startDecoding(
      model,
      batch,
      rows,
      sampling,
      options,
      new Float32Array(rows.size).fill(0.5),
    );
    const decoded = await started.decoder.advance(uniforms, 64);
    started.decoder.dispose();
    tf.dispose(contextTensors(started.context));
    const ends = Array.from({ length: rows.size }, (_, row) => {
      const tokens = Array.from(
        { length: decoded.steps },
        (_, step) => decoded.tokens[step * rows.size + row]!,
      );
      const logs = tokens.map((_, step) => decoded.logProbabilities[step * rows.size + row]!);
      const end = tokens.findIndex((id) => id === TINY.turnEnd || id === TINY.endOfText);
      expect(new Set(tokens.slice(end + 1))).toEqual(
        new Set(end + 1 < tokens.length ? [TINY.endOfText] : []),
      );
      expect(logs.map((x) => x === 0)).toEqual(tokens.map((_, step) => step > end));
      return end;
    });
    expect(decoded.allFinished).toBe(true);
    expect(decoded.steps).toBe(Math.max(...ends) + 1);
    expect(decoded.steps).toBeLessThan(64);
    expect(Math.min(...ends)).toBeLessThan(Math.max(...ends));
  },
);

it.each([
  [1, 1, 1],
  [3, 1, 3],
  [5, 1, 6],
  [13, 8, 128],
  [11, 8, 96],
  [16, 8, 128],
])('%i prompts x %i samples are decoded in a batch of %i rows', (prompts, samples, size) => {
  const rows = rowsOf(prompts, samples);
  expect(rows.size).toBe(size);
  expect(rows.prompts[rows.used - 1]).toBe(prompts - 1);
});
