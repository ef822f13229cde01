import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../../../src/data/index.ts';
import { startEngine, tf } from '../../../src/engine/index.ts';
import { createIqaRubric } from '../../../src/env/index.ts';
import {
  appendTokens,
  collate,
  createModel,
  disposeParameters,
  initialValues,
  loadModelFormat,
  promptSequence,
  responseLogProbabilities,
  type VisionLanguageModel,
} from '../../../src/model/index.ts';
import { BlindScorer } from '../../../src/train/blind/index.ts';
import { PRESET } from '../stage-fixture.ts';

const answer = (reasoning: string, score = '3.00'): string =>
  `<think>${reasoning}</think><answer>${score}</answer>`;
const REASONINGS = [
  'the image is sharp.',
  'strong blur hides all of the detail, so the overall quality is bad.',
  'it spells <|im_end|> and <|image_pad|>, which are text.',
];

let model: VisionLanguageModel;
let text: string;
let scorer: BlindScorer;

beforeAll(async () => {
  await startEngine({ threads: 1 });
  const format = await loadModelFormat(PRESET);
  model = createModel(format, initialValues(format.config, new Rng('blind')));
  // Random weights hold every digit about equally likely; with a larger gain they do not.
  const gain = model.parameters.get('model.norm.weight')!;
  gain.assign(tf.mul(gain, 20));
  ({ text } = renderPrompt(await loadShippedPrompt('student/quality-blind.v1')));
  scorer = new BlindScorer(model, text);
});
afterAll(() => disposeParameters(model.parameters));

/** E = sum of p(d1) p(d2 | d1) min(5, d1 + d2 / 10 + 0.045), p over digits alone, each sequence by itself. */
async function slowly(reasoning: string): Promise<number> {
  const { tokenizer } = model;
  const question = promptSequence(model, [{ role: 'user', content: text }], []);
  const stem = appendTokens(question, tokenizer.encode(`<think>${reasoning}</think><answer>`), 'prompt');
  const probabilities = async (first: number, second: number): Promise<[number, number]> => {
    const ids = [first, '.', second].flatMap((part) => tokenizer.encode(String(part)));
    const batch = collate([appendTokens(stem, ids, 'action')], model.config);
    const scores = tf.tidy(() => responseLogProbabilities(model, batch).logProbabilities);
    const [p1, , p2] = Array.from(await scores.data(), Math.exp);
    scores.dispose();
    return [p1!, p2!];
  };
  let [sum, total] = [0, 0];
  for (const first of [1, 2, 3, 4, 5]) {
    const rows = [];
    for (let second = 0; second < 10; second++) rows.push(await probabilities(first, second));
    const after = rows.reduce((mass, [, p2]) => mass + p2, 0);
    rows.forEach(([p1, p2], second) => {
      sum += (p1 * p2 * Math.min(5, first + second / 10 + 0.045)) / after;
    });
    total += rows[0]![0];
  }
  return sum / total;
}

describe('a reasoning without its picture', () => {
  it('has the score that passes over one sequence at a time give it', async () => {
    await scorer.prepare(REASONINGS.map((reasoning) => answer(reasoning)));
    const got = REASONINGS.map((reasoning) => scorer.expectedScore(reasoning));
    for (const [i, reasoning] of REASONINGS.slice(0, 2).entries()) {
      expect(got[i]).toBeCloseTo(await slowly(reasoning), 4);
    }
    expect(Math.abs(got[0]! - got[1]!)).toBeGreaterThan(0.01);
    // What spells a special token is text, and has a score like any other.
    expect(got[2]).toBeGreaterThan(1);
  });

  it('is scored once, however many completions hold it, and whatever they answer', async () => {
    const [reasoning] = REASONINGS;
    await scorer.prepare([answer(reasoning!)]);
    const alone = scorer.expectedScore(reasoning!);
    await scorer.prepare([answer(reasoning!, '1.00'), answer(reasoning!, '5.00')]);
    expect(scorer.expectedScore(reasoning!)).toBe(alone);
  });
});

describe('a reasoning that cannot be scored', () => {
  const target = { dataset: 'd', mos: 3 };
  const rubric = (of: BlindScorer) =>
    createIqaRubric(
      { consistency: { blind: { weight: 1 } } },
      { expectedScore: (reasoning) => of.expectedScore(reasoning) },
    );

  it('as it is too long, is a missing reward with its reason, and spoils no other', async () => {
    const long = 'blur and noise. '.repeat(model.config.text.maxPositions);
    const texts = [answer(long), answer(REASONINGS[0]!)];
    await scorer.prepare(texts);
    const [first, second] = rubric(scorer).scoreGroups([{ target, texts }])[0]!;
    const reason = expect.stringMatching(
      /^blindConsistency: without the picture, question and reasoning have \d+ tokens, at most 4080 fit$/,
    );
    expect(first!.terms.blindConsistency).toEqual({ status: 'missing', reason });
    expect(first!.total).toEqual({ status: 'missing', reason });
    const distance = Math.abs(scorer.expectedScore(REASONINGS[0]!) - 3);
    expect(second!.terms.blindConsistency).toEqual({
      status: 'ok',
      value: expect.closeTo(1 - distance / 4, 12),
    });
  });

  it('as the model gives no number, neither', async () => {
    const head = [...model.parameters.values()].at(-1)!;
    const kept = head.clone();
    head.assign(tf.fill(head.shape, Number.NaN));
    try {
      const broken = new BlindScorer(model, text);
      await broken.prepare([answer(REASONINGS[0]!)]);
      expect(() => broken.expectedScore(REASONINGS[0]!)).toThrow(
        'the model gives the score NaN without the picture',
      );
    } finally {
      head.assign(kept);
      kept.dispose();
    }
  });

  it('as it was prepared for an earlier step alone, neither', async () => {
    await scorer.prepare([answer(REASONINGS[0]!)]);
    await scorer.prepare([answer(REASONINGS[1]!)]);
    expect(() => scorer.expectedScore(REASONINGS[0]!)).toThrow('was not scored without the picture');
  });

  it('an answer without reasoning or score is never asked about: the rubric gives it 0', async () => {
    const texts = ['<answer>3.00</answer>', answer('the image is sharp.', 'three')];
    await scorer.prepare(texts);
    const scored = rubric(scorer).scoreGroups([{ target, texts }])[0]!;
    expect(scored.map(({ terms }) => terms.blindConsistency)).toEqual([
      { status: 'ok', value: 0 },
      { status: 'ok', value: 0 },
    ]);
    expect(() => scorer.expectedScore('the image is sharp.')).toThrow('was not scored');
  });
});
