import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Completion, Rng } from '../../src/core/index.ts';
import { engineStats, runPending, startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  disposeImageFeatures,
  encodeImageFeatures,
  type GenerateOptions,
  type GeneratingModel,
  generate,
  neverSampledTokenIds,
} from '../../src/model/index.ts';
import {
  mixedPrompts,
  TINY,
  tinyConfig,
  tinyImage,
  tinyModel,
  tinyPrompt,
  tinyTokenizer,
} from './generate-fixture.ts';
import {
  chiSquare,
  distribution,
  greedyUncached,
  logitsAfter,
  trainingLogProbabilities,
} from './generate-reference.ts';

const NEVER = [42, 43, 44, 45, 46, 47, 48];
const ENDS = [TINY.turnEnd, TINY.endOfText];

let model: GeneratingModel;
beforeAll(async () => {
  await startEngine({ threads: 2 });
  model = tinyModel();
});
afterAll(stopEngine);

const prompts = mixedPrompts();
const idsOf = (completions: Completion[][]) => completions.map((group) => group.map((c) => c.tokenIds));
const run = (options: Partial<GenerateOptions> = {}, of = prompts) =>
  generate(model, of, { maxNewTokens: 12, temperature: 1, rng: new Rng(3), ...options });

describe('greedy decoding', () => {
  it.each(['captured', 'stepwise'] as const)(
    '%s with a cache equals the full forward pass repeated for every token',
    async (decoding) => {
      const expected: number[][][] = [];
      for (const prompt of prompts)
        expected.push([await greedyUncached(model, prompt, 10, { banned: NEVER, ends: ENDS })]);
      expect(idsOf(await run({ temperature: 0, maxNewTokens: 10, decoding }))).toEqual(expected);
      // The fixture must not be a model that repeats one token, which a broken cache would repeat as well.
      expect(new Set(expected.flat(2)).size).toBeGreaterThan(5);
    },
  );

  it('does so with a tied head', async () => {
    const tied = tinyModel({ seed: 4, tied: true });
    const options = { maxNewTokens: 6, temperature: 0, rng: new Rng(1) };
    const expected: number[][][] = [];
    for (const prompt of prompts)
      expected.push([await greedyUncached(tied, prompt, 6, { banned: NEVER, ends: ENDS })]);
    expect(idsOf(await generate(tied, prompts, options))).toEqual(expected);
  });

  it.each(['captured', 'stepwise'] as const)(
    '%s with a repetition penalty equals the penalised full forward pass, prompt included',
    async (decoding) => {
      const penalty = 1.7;
      const expected: number[][][] = [];
      for (const prompt of prompts)
        expected.push([await greedyUncached(model, prompt, 10, { banned: NEVER, ends: ENDS, penalty })]);
      const options = { temperature: 0, maxNewTokens: 10, decoding };
      expect(idsOf(await run({ ...options, repetitionPenalty: penalty }))).toEqual(expected);
      expect(idsOf(await run(options))).not.toEqual(expected);
    },
  );

  it('with top-k 1 at any temperature is the greedy one', async () => {
    const greedy = idsOf(await run({ temperature: 0 }));
    expect(idsOf(await run({ temperature: 3, topK: 1 }))).toEqual(greedy);
  });

  it('stops at one token without running the loop', async () => {
    const [first] = await greedyUncached(model, prompts[1]!, 1, { banned: NEVER, ends: ENDS });
    const one = await run({ temperature: 0, maxNewTokens: 1 }, [prompts[1]!]);
    expect(idsOf(one)).toEqual([[[first]]]);
  });
});

describe('log-probabilities', () => {
  it.each([
    { temperature: 1, topP: 1 },
    { temperature: 0.7, topP: 1 },
    { temperature: 1.3, topP: 0.8 },
  ])('are those of the training forward pass at $temperature, top-p $topP', async (options) => {
    // 70 tokens: more than the loop is asked for at a time.
    const completions = await run({
      ...options,
      samplesPerPrompt: 3,
      maxNewTokens: 70,
      bannedTokenIds: ENDS,
    });
    const expected = await trainingLogProbabilities(model, prompts, completions, {
      temperature: options.temperature,
      bannedTokenIds: [...NEVER, ...ENDS],
    });
    const found = completions.flat().map((c) => c.logProbabilities);
    expect(found.map((list) => list.length)).toEqual(new Array(12).fill(70));
    expect(largestDifference(found, expected)).toBeLessThan(1e-4);
  });

  it('of greedy decoding are those at temperature 1', async () => {
    const completions = await run({ temperature: 0 });
    const expected = await trainingLogProbabilities(model, prompts, completions, {
      temperature: 1,
      bannedTokenIds: NEVER,
    });
    expect(
      largestDifference(
        completions.flat().map((c) => c.logProbabilities),
        expected,
      ),
    ).toBeLessThan(1e-4);
  });
});

describe('fused attention in the compiled loop', () => {
  it('draws the tokens that composed attention draws step by step', async () => {
    const options = { samplesPerPrompt: 2, temperature: 0.9, topP: 0.95 };
    const fused = await run({ ...options, decoding: 'captured' });
    const composed = await run({ ...options, decoding: 'stepwise' });
    expect(idsOf(fused)).toEqual(idsOf(composed));
    const numbers = (all: Completion[][]) => all.flat().map((c) => c.logProbabilities);
    expect(largestDifference(numbers(fused), numbers(composed))).toBeLessThan(1e-5);
  });
});

describe('the end of a completion', () => {
  it('is its first end-of-sequence token, or the limit', async () => {
    const completions = (await run({ samplesPerPrompt: 16, temperature: 5, maxNewTokens: 30 })).flat();
    for (const { tokenIds, finishReason, logProbabilities } of completions) {
      const end = tokenIds.findIndex((id) => ENDS.includes(id));
      expect(finishReason).toBe(end === -1 ? 'length' : 'stop');
      expect(tokenIds.length).toBe(end === -1 ? 30 : end + 1);
      expect(logProbabilities.length).toBe(tokenIds.length);
    }
    expect(new Set(completions.map((c) => c.finishReason))).toEqual(new Set(['stop', 'length']));
  });

  it('is not in the text', async () => {
    const stopped = (await run({ samplesPerPrompt: 16, temperature: 5, maxNewTokens: 30 }))
      .flat()
      .filter((c) => c.finishReason === 'stop');
    for (const { text, tokenIds } of stopped)
      expect(text).toBe(String.fromCharCode(...tokenIds.slice(0, -1).map((id) => 48 + id)));
  });

  it('does not disturb the rows that go on', async () => {
    const completions = await run({ samplesPerPrompt: 16, temperature: 5, maxNewTokens: 30 });
    const expected = await trainingLogProbabilities(model, prompts, completions, {
      temperature: 5,
      bannedTokenIds: NEVER,
    });
    expect(
      largestDifference(
        completions.flat().map((c) => c.logProbabilities),
        expected,
      ),
    ).toBeLessThan(1e-4);
  });
});

describe('stop tokens', () => {
  it.each(['captured', 'stepwise'] as const)('of the caller end an answer too, %s', async (decoding) => {
    const [[whole]] = (await run({ temperature: 0, maxNewTokens: 12, decoding }, [prompts[1]!])) as [
      [Completion],
    ];
    const at = 3;
    const stop = whole.tokenIds[at]!;
    const first = whole.tokenIds.indexOf(stop);
    const options = { temperature: 0, maxNewTokens: 12, decoding, stopTokenIds: [stop] };
    const [[cut]] = (await run(options, [prompts[1]!])) as [[Completion]];
    expect(cut).toMatchObject({ tokenIds: whole.tokenIds.slice(0, first + 1), finishReason: 'stop' });
  });
});

describe('special stop tokens', () => {
  // 46 is a special token of the tiny tokenizer and no end of sequence: otherwise it is never drawn.
  const special = 46;

  it('are drawn, end the answer, stay out of its text, and log-probabilities count them', async () => {
    const options = { samplesPerPrompt: 16, temperature: 5, maxNewTokens: 30 };
    const completions = await run({ ...options, stopTokenIds: [special], bannedTokenIds: ENDS });
    const stopped = completions.flat().filter((c) => c.finishReason === 'stop');
    expect(stopped.length).toBeGreaterThan(5);
    for (const { tokenIds, text } of stopped) {
      expect(tokenIds.indexOf(special)).toBe(tokenIds.length - 1);
      expect(text).toHaveLength(tokenIds.length - 1);
    }
    const bannedTokenIds = [...neverSampledTokenIds(model.config, tinyTokenizer, [special]), ...ENDS];
    expect(bannedTokenIds).not.toContain(special);
    const expected = await trainingLogProbabilities(model, prompts, completions, {
      temperature: 5,
      bannedTokenIds,
    });
    const found = completions.flat().map((c) => c.logProbabilities);
    expect(largestDifference(found, expected)).toBeLessThan(1e-4);
  });

  it('that are banned too are never drawn, and an empty list is none', async () => {
    const options = { samplesPerPrompt: 8, temperature: 5 };
    const plain = idsOf(await run(options));
    expect(idsOf(await run({ ...options, stopTokenIds: [special], bannedTokenIds: [special] }))).toEqual(
      plain,
    );
    expect(idsOf(await run({ ...options, stopTokenIds: [] }))).toEqual(plain);
  });
});

describe('which tokens are drawn', () => {
  it('never banned ones, at any temperature', async () => {
    const banned = [0, 5, 6, 7, 30];
    const completions = await run({
      samplesPerPrompt: 128,
      temperature: 5,
      maxNewTokens: 8,
      bannedTokenIds: banned,
    });
    const drawn = new Set(completions.flat().flatMap((c) => c.tokenIds));
    const allowed = Array.from({ length: 42 }, (_, id) => id).filter((id) => !banned.includes(id));
    expect([...drawn].sort((a, b) => a - b)).toEqual(allowed);
  });

  it('never special tokens, pictures or ids beyond the tokenizer; but the end of sequence', () => {
    expect(neverSampledTokenIds(tinyConfig(), tinyTokenizer)).toEqual(NEVER);
  });

  // Three tokens allowed, two steps: nine outcomes, so 8 degrees of freedom, whose 99.9 % point is 26.12.
  it('as often as the exact softmax says, in the first step and in the loop', async () => {
    const allowed = [3, 17, 30];
    const banned = Array.from({ length: 49 }, (_, id) => id).filter((id) => !allowed.includes(id));
    const prompt = prompts[0]!;
    const temperature = 1.5;
    const first = distribution(await logitsAfter(model, prompt), temperature, banned);
    const probabilities: number[] = [];
    for (const a of allowed) {
      const extended = {
        ...prompt,
        tokenIds: [...prompt.tokenIds, a],
        roles: [...prompt.roles, 'action' as const],
      };
      const second = distribution(await logitsAfter(model, extended), temperature, banned);
      for (const b of allowed) probabilities.push(first[a]! * second[b]!);
    }
    const [group] = await run(
      { samplesPerPrompt: 3000, maxNewTokens: 2, temperature, bannedTokenIds: banned },
      [prompt],
    );
    const counts = new Array<number>(9).fill(0);
    for (const { tokenIds } of group!)
      counts[allowed.indexOf(tokenIds[0]!) * 3 + allowed.indexOf(tokenIds[1]!)]!++;
    expect(Math.min(...probabilities)).toBeGreaterThan(0.002);
    expect(chiSquare(counts, probabilities)).toBeLessThan(26.12);
  });

  it('with top-p only the nucleus, in its own proportions', async () => {
    const prompt = prompts[2]!;
    const probabilities = distribution(await logitsAfter(model, prompt), 1, NEVER);
    const ranked = probabilities.map((p, id) => ({ p, id })).sort((a, b) => b.p - a.p);
    let before = 0;
    const nucleus = ranked.filter(({ p }) => {
      const inside = before < 0.7;
      before += p;
      return inside;
    });
    expect(nucleus.length).toBeGreaterThan(2);
    expect(nucleus.length).toBeLessThan(12);
    const [group] = await run({ samplesPerPrompt: 2000, maxNewTokens: 1, topP: 0.7 }, [prompt]);
    const counts = nucleus.map(({ id }) => group!.filter((c) => c.tokenIds[0] === id).length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2000);
    const mass = nucleus.reduce((sum, { p }) => sum + p, 0);
    // 99.9 % point of chi-square with 10 degrees of freedom, the most the nucleus may have here.
    expect(
      chiSquare(
        counts,
        nucleus.map(({ p }) => p / mass),
      ),
    ).toBeLessThan(29.59);
  });

  it('with a tiny top-p only the most probable one', async () => {
    const greedy = idsOf(await run({ temperature: 0 }));
    expect(idsOf(await run({ topP: 1e-6 }))).toEqual(greedy);
  });
});

describe('randomness', () => {
  it('gives the same tokens for the same seed and others for another', async () => {
    const options = { samplesPerPrompt: 2 };
    const once = idsOf(await run({ ...options, rng: new Rng(8) }));
    expect(idsOf(await run({ ...options, rng: new Rng(8) }))).toEqual(once);
    expect(idsOf(await run({ ...options, rng: new Rng(9) }))).not.toEqual(once);
  });

  it('goes on in the next call with the same source', async () => {
    const rng = new Rng(8);
    const once = idsOf(await run({ rng }));
    expect(idsOf(await run({ rng }))).not.toEqual(once);
  });

  it('differs between the samples of a prompt and between equal prompts', async () => {
    const same = [prompts[1]!, prompts[1]!];
    const ids = idsOf(await run({ samplesPerPrompt: 2 }, same)).flat();
    expect(new Set(ids.map(String)).size).toBe(4);
  });

  it("keeps a row's result whatever the other rows are", async () => {
    const [alone] = await run({}, [prompts[0]!]);
    const others = [prompts[0]!, prompts[2]!, tinyPrompt([9], [tinyImage(7, { h: 4, w: 4 })], [2])];
    const [among] = await run({}, others);
    expect(among![0]!.tokenIds).toEqual(alone![0]!.tokenIds);
    expect(largestDifference([among![0]!.logProbabilities], [alone![0]!.logProbabilities])).toBeLessThan(
      1e-5,
    );
  });
});

describe('image features', () => {
  it('given beforehand change nothing', async () => {
    const features = encodeImageFeatures(
      model,
      prompts.flatMap((prompt) => [...prompt.images].reverse()),
    );
    const given = await run({ imageFeatures: features });
    disposeImageFeatures(features);
    const computed = await run();
    expect(idsOf(given)).toEqual(idsOf(computed));
    const numbers = (all: Completion[][]) => all.flat().map((c) => c.logProbabilities);
    expect(largestDifference(numbers(given), numbers(computed))).toBeLessThan(1e-5);
  });

  it('are an error where an image has none', async () => {
    await expect(run({ imageFeatures: new Map() })).rejects.toThrow(/no entry in the image features/);
  });
});

describe('resources', () => {
  it('compiles nothing new for changed weights, other lengths, temperatures and seeds', async () => {
    const own = tinyModel({ seed: 2 });
    const options = { samplesPerPrompt: 2, maxNewTokens: 9, temperature: 0.8, rng: new Rng(1) };
    await generate(own, prompts, options);
    tf.tidy(() => {
      for (const variable of own.parameters.values()) variable.assign(tf.mul(variable, 0.9));
    });
    await runPending();
    const { compiles } = engineStats();
    const second = await generate(own, prompts, { ...options, maxNewTokens: 7, temperature: 1.2 });
    expect(engineStats().compiles).toBe(compiles);
    const expected = await trainingLogProbabilities(own, prompts, second, {
      temperature: 1.2,
      bannedTokenIds: NEVER,
    });
    expect(
      largestDifference(
        second.flat().map((c) => c.logProbabilities),
        expected,
      ),
    ).toBeLessThan(1e-4);
  });

  it.each(['captured', 'stepwise'] as const)('%s leaves no tensors behind', async (decoding) => {
    const before = tf.memory().numTensors;
    await run({ decoding, maxNewTokens: 5 });
    expect(tf.memory().numTensors).toBe(before);
  });

  it('leaves none with what remembers tokens', async () => {
    const options = { maxNewTokens: 70, repetitionPenalty: 1.1, topK: 5 };
    await run(options);
    const before = tf.memory().numTensors;
    await run(options);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('leaves none after an abort, and throws its reason', async () => {
    const before = tf.memory().numTensors;
    const controller = new AbortController();
    const running = run({ maxNewTokens: 100, signal: controller.signal, bannedTokenIds: ENDS });
    controller.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('errors', () => {
  it.each([
    [{ temperature: -1 }, /temperature is -1/],
    [{ temperature: Number.NaN }, /temperature is NaN/],
    [{ topP: 0 }, /topP is 0/],
    [{ topP: 1.1 }, /topP is 1.1/],
    [{ topP: Number.NaN }, /topP is NaN/],
    [{ temperature: 1e-12 }, /temperature is 1e-12, allowed is 0 or a finite number from 1e-10 on/],
    [{ temperature: Number.POSITIVE_INFINITY }, /temperature is Infinity/],
    [{ topK: Number.NaN }, /topK is NaN/],
    [{ topK: -3 }, /topK is -3/],
    [{ topK: 0 }, /topK is 0/],
    [{ topK: 2.5 }, /topK is 2.5/],
    [{ repetitionPenalty: 0 }, /repetitionPenalty is 0/],
    [{ repetitionPenalty: -1.2 }, /repetitionPenalty is -1.2/],
    [{ repetitionPenalty: Number.NaN }, /repetitionPenalty is NaN/],
    [
      { repetitionPenalty: 1e30 },
      /repetitionPenalty is 1e\+30, allowed is a number from 0.000001 to 1000000/,
    ],
    [{ stopTokenIds: [9999] }, /stopTokenIds holds 9999/],
    [{ stopTokenIds: [47] }, /stopTokenIds holds 47, allowed are token ids from 0 to 46/],
    [{ stopTokenIds: [TINY.imagePad] }, /stopTokenIds holds 44, which stands for pictures/],
    [{ bannedTokenIds: [49] }, /bannedTokenIds holds 49, allowed are token ids from 0 to 48/],
    [{ bannedTokenIds: [-1] }, /bannedTokenIds holds -1/],
    [{ bannedTokenIds: [1.5] }, /bannedTokenIds holds 1.5/],
    [{ bannedTokenIds: Array.from({ length: 49 }, (_, id) => id) }, /leaves no token to draw/],
    [{ samplesPerPrompt: 1e9 }, /4 prompts with 1000000000 samples each are more than 65536 answers/],
    [{ maxNewTokens: Number.NaN }, /maxNewTokens is NaN/],
    [{ maxNewTokens: 0 }, /maxNewTokens is 0/],
    [{ samplesPerPrompt: 1.5 }, /samplesPerPrompt is 1.5/],
    [{ maxNewTokens: 256 }, /256 new tokens leave no room in 256 positions/],
    [{ maxNewTokens: 250 }, /at most 6 are allowed/],
  ])('%j', async (options, message) => {
    await expect(run(options)).rejects.toThrow(message);
  });

  it('names weights that are not numbers, and leaves no tensors behind', async () => {
    const broken = tinyModel({ seed: 5 });
    const norm = broken.parameters.get('model.norm.weight')!;
    tf.tidy(() => norm.assign(tf.mul(norm, Number.NaN)));
    const before = tf.memory().numTensors;
    const options = { maxNewTokens: 4, temperature: 1, rng: new Rng(1) };
    await expect(generate(broken, prompts, options)).rejects.toThrow(/log-probability NaN/);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('names an empty prompt among others, and leaves no tensors behind', async () => {
    const before = tf.memory().numTensors;
    const empty = { tokenIds: [], roles: [], images: [] };
    await expect(run({}, [prompts[1]!, empty])).rejects.toThrow(/sequence 1 has no tokens/);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('with top-k beyond the vocabulary draws from all of it', async () => {
    const options = { samplesPerPrompt: 4, temperature: 2 };
    expect(idsOf(await run({ ...options, topK: 1e9 }))).toEqual(idsOf(await run(options)));
  });

  it('gives nothing for no prompts', async () => {
    expect(await run({}, [])).toEqual([]);
  });
});

function largestDifference(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  expect(a.map((list) => list.length)).toEqual(b.map((list) => list.length));
  return Math.max(...a.flatMap((list, i) => list.map((x, j) => Math.abs(x - b[i]![j]!))));
}
