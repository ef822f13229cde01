import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { formatAnswer, InputError, Rng, type Tokenizer } from '../../src/core/index.ts';
import { startEngine } from '../../src/engine/index.ts';
import { createIqaRubric } from '../../src/env/index.ts';
import {
  disposeParameters,
  generate,
  loadModel,
  loadModelFormat,
  promptSequence,
  type Sequence,
} from '../../src/model/index.ts';
import { r3Starts } from '../../src/rl/index.ts';
import { joinedText, responseDemonstration, startFrom } from '../../src/train/r3-starts.ts';

const PRESET = fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url));
const RESPONSE = formatAnswer('The scene is blurred. Noise of 3.5 covers it; the quality is poor.', 2.1);

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = (await loadModelFormat(PRESET)).tokenizer;
});

const given = (response: string, by: 'sentence' | 'token') => {
  const demonstration = responseDemonstration(response, { tokenizer, by });
  return demonstration.steps.map((start) => tokenizer.decode(demonstration.tokenIds.slice(0, start)));
};

describe('responseDemonstration', () => {
  it('cuts before each sentence and before the end of the reasoning, between tokens', () => {
    // A decimal point ends no sentence; the last full stop is one token with the tag that follows.
    expect(given(RESPONSE, 'sentence')).toEqual([
      '',
      '<think>The scene is blurred.',
      '<think>The scene is blurred. Noise of 3.5 covers it; the quality is poor',
    ]);
  });

  it('cuts before every token up to the end of the reasoning', () => {
    const { tokenIds, steps } = responseDemonstration(RESPONSE, { tokenizer, by: 'token' });
    expect(steps).toEqual(steps.map((_, i) => i));
    const rest = tokenizer.decode(tokenIds.slice(steps.at(-1)));
    expect(rest).toBe('.</think><answer>2.10</answer>');
  });

  it('never cuts a character', () => {
    const response = formatAnswer('Überbelichtet 📷 und unscharf.', 2);
    const texts = given(response, 'token');
    for (const text of texts) expect(response.startsWith(text)).toBe(true);
    expect(texts).toContain('<think>Überbelichtet 📷');
  });

  it('has the tokens that the cold start trains on', () => {
    const { tokenIds } = responseDemonstration(RESPONSE, { tokenizer, by: 'sentence' });
    expect(tokenIds).toEqual(tokenizer.encode(RESPONSE));
  });

  it('has two steps for a reasoning of one sentence', () => {
    const { steps } = responseDemonstration(formatAnswer('poor', 2), { tokenizer, by: 'sentence' });
    expect(steps).toHaveLength(2);
    expect(steps[0]).toBe(0);
  });

  it.each(['no tags at all', '<think>only a thought</think>', '<think></think><answer>2.00</answer>', ''])(
    'refuses %j, which shows nothing right',
    (response) => {
      expect(() => responseDemonstration(response, { tokenizer, by: 'sentence' })).toThrow(InputError);
    },
  );
});

describe('startFrom', () => {
  const prompt: Sequence = { tokenIds: [9, 8], roles: ['prompt', 'prompt'], images: [] };

  it('gives the first tokens as observations, which nothing trains', () => {
    const demonstration = { tokenIds: [1, 2, 3, 4], steps: [0, 2, 3] };
    expect(startFrom(prompt, demonstration, 2)).toEqual({
      tokenIds: [9, 8, 1, 2],
      roles: ['prompt', 'prompt', 'observation', 'observation'],
      images: [],
    });
    expect(startFrom(prompt, demonstration, 0)).toEqual(prompt);
  });

  it('refuses to give the whole demonstration', () => {
    expect(() => startFrom(prompt, { tokenIds: [1, 2], steps: [0] }, 2)).toThrow(RangeError);
    expect(() => startFrom(prompt, { tokenIds: [1, 2], steps: [0] }, -1)).toThrow(RangeError);
  });
});

describe('continuing from a start', () => {
  it('goes on as the policy itself went on, where what is given are its own first tokens', async () => {
    await startEngine({ threads: 1 });
    const model = await loadModel(PRESET);
    try {
      const prompt = promptSequence(model, [{ role: 'user', content: 'Reason, then score.' }], []);
      const greedy = { maxNewTokens: 12, temperature: 0, rng: new Rng(1) };
      const whole = (await generate(model, [prompt], greedy))[0]![0]!;
      const demonstration = { tokenIds: whole.tokenIds, steps: [0] };
      for (const start of [1, 5]) {
        const [group] = await generate(model, [startFrom(prompt, demonstration, start)], {
          ...greedy,
          maxNewTokens: 12 - start,
        });
        expect(group![0]!.tokenIds).toEqual(whole.tokenIds.slice(start));
      }
    } finally {
      disposeParameters(model.parameters);
    }
  });
});

describe('joinedText', () => {
  it('is the response itself where the policy says what the teacher said, from every start', () => {
    const demonstration = responseDemonstration(RESPONSE, { tokenizer, by: 'token' });
    const end = tokenizer.endOfSequenceIds[0]!;
    for (const start of r3Starts(demonstration.steps, 6)) {
      const completion = { tokenIds: [...demonstration.tokenIds.slice(start), end] };
      expect(joinedText(demonstration, start, completion, tokenizer)).toBe(RESPONSE);
    }
  });

  it('is whole where a character lies across the cut', () => {
    const tokenIds = tokenizer.encode('📷');
    expect(tokenIds.length).toBeGreaterThan(1);
    const text = joinedText({ tokenIds, steps: [0] }, 1, { tokenIds: tokenIds.slice(1) }, tokenizer);
    expect(text).toBe('📷');
  });

  it('earns what the whole answer earns, where the completion alone breaks the contract', () => {
    const rubric = createIqaRubric();
    const target = { dataset: 'test', mos: 2.1 };
    const demonstration = responseDemonstration(RESPONSE, { tokenizer, by: 'sentence' });
    const start = demonstration.steps.at(-1)!;
    const completion = { tokenIds: tokenizer.encode('.</think><answer>2.10</answer>') };
    const alone = rubric.scoreCompletion(tokenizer.decode(completion.tokenIds), target);
    const joined = rubric.scoreCompletion(joinedText(demonstration, start, completion, tokenizer), target);
    expect(alone.terms.format).toEqual({ status: 'ok', value: 0 });
    // Accuracy 1 at weight 1, "poor" for 2.1 at weight 0.3, format 1 at weight 0.1.
    expect(joined.total).toEqual({ status: 'ok', value: expect.closeTo(1.4, 12) });
  });
});
