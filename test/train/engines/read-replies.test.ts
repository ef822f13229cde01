import { describe, expect, it } from 'vitest';
import type { Tokenizer } from '../../../src/core/index.ts';
import { engineMetrics, rolloutEngineConfigSchema } from '../../../src/train/engines/index.ts';
import { requireSamePrompt } from '../../../src/train/engines/prompt-check.ts';
import { readChoice } from '../../../src/train/engines/read-choice.ts';
import { sglangProtocol } from '../../../src/train/engines/sglang-protocol.ts';
import { requireSamplingTemperature } from '../../../src/train/engines/temperature-check.ts';
import { vllmProtocol } from '../../../src/train/engines/vllm-protocol.ts';

const END = 9;
const tokenizer: Tokenizer = {
  vocabularySize: 10,
  endOfSequenceIds: [END],
  padId: END,
  encode: () => [],
  decode: (ids) => ids.map((id) => `<${id}>`).join(''),
  tokenId: () => undefined,
};
const RULES = {
  tokenizer,
  maxNewTokens: 3,
  endIds: new Set([END]),
  bannedIds: new Set([7]),
  version: 5,
};
const choice = (
  tokenIds: number[] | null,
  logProbabilities: (number | null)[] | null,
  finishReason = 'stop',
) => readChoice({ tokenIds, logProbabilities, finishReason }, RULES);

describe('a choice', () => {
  it('goes in as it came', () => {
    expect(choice([4, END], [-0.5, -1.25])).toEqual({
      tokenIds: [4, END],
      logProbabilities: [-0.5, -1.25],
      text: '<4><9>',
      finishReason: 'stop',
      version: 5,
    });
    expect(choice([4, 4, 4], [-1, -1, -1], 'length')).toMatchObject({ finishReason: 'length' });
  });

  it('that ends with its last token has stopped, whatever the server calls it', () => {
    expect(choice([4, 4, END], [-1, -1, -1], 'length')).toMatchObject({ finishReason: 'stop' });
  });

  it('may have a probability that rounding lifted above 1, and no more than that', () => {
    expect(choice([END], [0.004])).toMatchObject({ logProbabilities: [0] });
    expect(choice([END], [0.1])).toMatchObject({ reason: 'missing-log-probabilities' });
  });

  it.each([
    ['missing-token-ids', null, [-1]],
    ['missing-log-probabilities', [4, END], null],
    ['missing-log-probabilities', [4, END], [-1]],
    ['missing-log-probabilities', [4, END], [-1, -1, -1]],
    ['missing-log-probabilities', [4, END], [null, -1]],
    ['missing-log-probabilities', [4, END], [-1, Number.NaN]],
    ['missing-log-probabilities', [4, END], [-9999, -1]],
    ['banned-token', [7, END], [-1, -1]],
    ['banned-token', [10, END], [-1, -1]],
    ['wrong-end', [], []],
    ['wrong-end', [4, 4, 4, END], [-1, -1, -1, -1]],
    ['wrong-end', [END, END], [-1, -1]],
    ['wrong-end', [4], [-1]],
  ])('is left out as %s: tokens %j, log-probabilities %j', (reason, tokenIds, logProbabilities) => {
    expect(choice(tokenIds, logProbabilities)).toMatchObject({ reason });
  });
});

describe('the prompt as the server read it', () => {
  const check =
    (promptTokenIds: number[] | null, promptLength: number | null = null) =>
    () =>
      requireSamePrompt({ model: null, choices: [], promptTokenIds, promptLength }, [1, 8, 8, 2], {
        tokenizer,
        imagePad: 8,
      });

  it('must be ours, token for token', () => {
    expect(check([1, 8, 8, 2])).not.toThrow();
    expect(check([1, 8, 8])).toThrow(
      /3 instead of 4, the first other one is number 3, no token instead of 2 "<2>"/,
    );
    expect(check([1, 8, 8, 2, 3])).toThrow(/number 4, 3 "<3>" instead of no token/);
    expect(check([1, 8, 8, 3])).toThrow(/number 3, 3 "<3>" instead of 2/);
  });

  it('must at least have our length, where there is only a number', () => {
    expect(check(null, 4)).not.toThrow();
    expect(check(null, 5)).toThrow(/4 tokens as 5/);
    expect(check(null)).toThrow(/neither the tokens of the prompt nor their number/);
  });
});

describe('log-probabilities at temperature 1000', () => {
  const check = (logProbabilities: (number | null)[] | null) => () =>
    requireSamplingTemperature(
      {
        model: null,
        promptTokenIds: null,
        promptLength: null,
        choices: [{ tokenIds: null, logProbabilities, finishReason: 'length' }],
      },
      1000,
      'set the flag',
    );

  it('are about -ln(vocabulary), 6.91 for 1000 tokens', () => {
    expect(check([-6.9, -6.95, -6.88])).not.toThrow();
    expect(check([-7.2, -7.1, -7.3])).toThrow(/-7\.20 on average .* -6\.91 is expected/);
    expect(check([-4, -3])).toThrow(/-3\.50 on average/);
    expect(check(null)).toThrow(/no log-probabilities/);
  });
});

describe('a reply of another shape', () => {
  it.each([null, [], {}, { object: 'chat.completion', choices: [] }, { error: { message: 'no' } }])(
    'of vLLM is malformed: %j',
    (json) => {
      expect(() => vllmProtocol.reply(json)).toThrow(expect.objectContaining({ reason: 'malformed' }));
    },
  );

  it('of SGLang is malformed, also where it has two different sets of ids', () => {
    const reply = (output_ids: number[]) => ({
      output_ids,
      meta_info: {
        prompt_tokens: 3,
        finish_reason: { type: 'stop', matched: END },
        output_token_logprobs: [
          [-1, 4, null],
          [-2, END, null],
        ],
      },
    });
    const malformed = expect.objectContaining({ reason: 'malformed' });
    expect(() => sglangProtocol.reply({ text: 'hello' })).toThrow(malformed);
    expect(() => sglangProtocol.reply(reply([5, END]))).toThrow(malformed);
    expect(() => sglangProtocol.reply(reply([]))).toThrow(malformed);
    for (const ids of [[4, END], [4]])
      expect(sglangProtocol.reply(reply(ids)).choices).toEqual([
        { tokenIds: [4, END], logProbabilities: [-1, -2], finishReason: 'stop' },
      ]);
  });
});

describe('metrics of a batch', () => {
  it('count failures by reason, as shares of what was asked for, and versions behind', () => {
    const completion = { tokenIds: [END], logProbabilities: [-1], text: '', finishReason: 'stop' as const };
    const failure = { reason: 'timeout' as const, message: '' };
    const groups = [
      {
        completions: [
          { ...completion, version: 7 },
          { ...completion, version: 4 },
        ],
        failures: [failure],
      },
      { completions: [{ ...completion, version: 7 }], failures: [] },
    ];
    expect(engineMetrics(groups, 7)).toEqual({
      'rollout/failed': 1 / 4,
      'rollout/failed/timeout': 1 / 4,
      'rollout/staleness/mean': 1,
      'rollout/staleness/max': 3,
    });
    expect(engineMetrics([{ completions: [], failures: [failure] }], 7)).toEqual({
      'rollout/failed': 1,
      'rollout/failed/timeout': 1,
    });
    expect(engineMetrics([], 7)).toEqual({});
  });
});

describe('the configuration', () => {
  const valid = { kind: 'vllm', baseUrl: 'http://127.0.0.1:8000', adapterFolder: 'runs/adapters' };
  const problems = (config: object) =>
    rolloutEngineConfigSchema.safeParse(config).error?.issues.map(({ path, code }) => [path.join('.'), code]);

  it('fills in what is left out', () => {
    expect(rolloutEngineConfigSchema.parse(valid)).toEqual({
      ...valid,
      adapterFolderOnServer: null,
      adapterName: 'q-ponder',
      concurrency: 32,
      timeoutSeconds: 600,
      stallSeconds: 15,
      retries: 8,
      firstDelaySeconds: 1,
      maxStaleness: 0,
      checkLogProbabilities: true,
    });
  });

  it('refuses what it does not know', () => {
    expect(problems({ kind: 'local', baseUrl: 'http://x' })).toEqual([['', 'unrecognized_keys']]);
    expect(problems({ ...valid, adapterName: 'a/b' })).toEqual([['adapterName', 'invalid_format']]);
    expect(problems({ kind: 'trt' })).toEqual([['kind', 'invalid_union']]);
  });
});
