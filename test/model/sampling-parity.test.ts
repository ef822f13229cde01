/** What may be drawn, and how often, against the transformers library (scripts/reference/record-sampling.py). */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { chooseTokens, type Sampling } from '../../src/model/generate-sampling.ts';
import { distribution } from './generate-reference.ts';

interface Case {
  settings: {
    temperature?: number;
    top_k?: number;
    top_p?: number;
    repetition_penalty?: number;
    suppress_tokens?: number[];
  };
  seen: number[];
  logits: number[];
  probabilities: number[];
}
const { cases } = JSON.parse(readFileSync(new URL('./fixtures/sampling.json', import.meta.url), 'utf8')) as {
  cases: Case[];
};

beforeAll(async () => {
  await startEngine({ threads: 2 });
});
afterAll(stopEngine);

/** Draws at evenly spaced uniforms: each token comes up as often as its probability says, to one draw at each end. */
const DRAWS = 4096;
const UNIFORMS = Float32Array.from({ length: DRAWS }, (_, i) => (i + 0.5) / DRAWS);

const samplingOf = ({ settings }: Case): Sampling => ({
  temperature: settings.temperature ?? 1,
  topP: settings.top_p ?? 1,
  topK: settings.top_k,
  repetitionPenalty: settings.repetition_penalty,
  bannedTokenIds: settings.suppress_tokens ?? [],
});

function drawnBy(one: Case) {
  return tf.tidy(() => {
    const rows = <T extends number[]>(row: T) => tf.tile(tf.tensor2d([row]), [DRAWS, 1]) as tf.Tensor2D;
    const seen = one.logits.map((_, id) => (one.seen.includes(id) ? 1 : 0));
    const sampling = samplingOf(one);
    const remembered = sampling.repetitionPenalty === undefined ? undefined : rows(seen);
    const chosen = chooseTokens(rows(one.logits), tf.tensor1d(UNIFORMS), sampling, remembered);
    return { tokens: [...chosen.tokens.dataSync()], logs: [...chosen.logProbabilities.dataSync()] };
  });
}

const named = cases.map((one, i) => [i, JSON.stringify(one.settings), one] as const);

describe.each(named)('case %i, %s', (_i, _settings, one) => {
  it('draws the tokens that transformers would, as often', () => {
    const counts = new Array<number>(one.logits.length).fill(0);
    for (const token of drawnBy(one).tokens) counts[token]!++;
    one.probabilities.forEach((probability, id) => {
      if (probability === 0) expect([id, counts[id]]).toEqual([id, 0]);
      expect([id, Math.abs(counts[id]! / DRAWS - probability) <= 1.01 / DRAWS]).toEqual([id, true]);
    });
  });

  it('reports log-probabilities of the whole distribution, without penalty, top-k and top-p', () => {
    const { temperature, bannedTokenIds } = samplingOf(one);
    const whole = distribution(one.logits, temperature, bannedTokenIds);
    const { tokens, logs } = drawnBy(one);
    const worst = Math.max(...tokens.map((token, i) => Math.abs(logs[i]! - Math.log(whole[token]!))));
    expect(worst).toBeLessThan(1e-4);
  });
});

it('the cases cut: ties at the k-th place, and most of the tokens by top-p', () => {
  const kept = ({ probabilities }: Case): number => probabilities.filter((p) => p > 0).length;
  expect(cases.some((one) => one.settings.top_k !== undefined && kept(one) > one.settings.top_k)).toBe(true);
  expect(cases.some((one) => one.settings.top_p !== undefined && kept(one) < 5)).toBe(true);
});
