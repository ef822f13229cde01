import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../../src/core/index.ts';
import { decodeImage } from '../../../src/data/index.ts';
import { tf } from '../../../src/engine/index.ts';
import {
  appendTokens,
  collate,
  createAdapter,
  disposeParameters,
  loadModel,
  loraSettingsSchema,
  neverSampledTokenIds,
  preprocess,
  promptSequence,
  responseLogProbabilities,
  type VisionLanguageModel,
} from '../../../src/model/index.ts';
import {
  createRolloutEngine,
  type EngineCompletion,
  type EngineGroup,
  type EnginePrompt,
  type EngineSampling,
  type RolloutEngine,
  rolloutEngineConfigSchema,
} from '../../../src/train/engines/index.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../stage-fixture.ts';
import { type Fault, type MiniatureServer, startMiniatureServer } from './miniature-server.ts';

const GROUP = 3;
const TOKENS = 20;
const KINDS = ['vllm', 'sglang'] as const;

let fixture: StageFixture;
let taught: string;
let pictures: RgbImage[];
let server: MiniatureServer;
let model: VisionLanguageModel;
let engine: RolloutEngine;
let notes: string[];
let used = 0;

beforeAll(async () => {
  fixture = await createStageFixture();
  taught = await teachContract(fixture);
  const images = (await records(fixture.data)).slice(0, 2).map(({ image }) => join(fixture.data, image));
  pictures = await Promise.all(images.map((path) => decodeImage(path)));
  server = await startMiniatureServer(taught);
  model = await loadModel(taught);
  const settings = loraSettingsSchema.parse({ rank: 4, alpha: 8 });
  model.parameters.adapter = createAdapter(model.config, settings, new Rng('engine adapter'));
});
afterAll(async () => {
  disposeParameters(model.parameters);
  await server.close();
  await fixture.remove();
});
beforeEach(() => {
  server.reset();
  move(1);
  notes = [];
});
afterEach(() => engine.close());

/** An update that nobody would call small: the second matrix of every layer gets new numbers. */
function move(seed: number): void {
  const rng = new Rng(`update ${seed}`);
  for (const { up } of model.parameters.adapter!.pairs.values()) {
    const values = Float32Array.from({ length: up.size }, () => 0.2 * rng.normal());
    tf.tidy(() => up.assign(tf.tensor(values, up.shape)));
  }
}

function open(kind: (typeof KINDS)[number], changes: Record<string, unknown> = {}): RolloutEngine {
  const config = rolloutEngineConfigSchema.parse({
    kind,
    baseUrl: server.baseUrl,
    adapterFolder: fixture.path(`adapters-${used++}`),
    retries: 3,
    firstDelaySeconds: 0.01,
    // Server and client share this process: what the one computes keeps the other waiting.
    stallSeconds: 10,
    timeoutSeconds: 30,
    checkLogProbabilities: false,
    ...changes,
  });
  engine = createRolloutEngine(config, { apiKey: 'secret-key', note: (line) => notes.push(line) });
  return engine;
}

const MESSAGES = (withPicture: boolean): EnginePrompt['messages'] => [
  {
    role: 'user',
    content: [
      ...(withPicture ? [{ type: 'image' as const }] : []),
      { type: 'text', text: 'Rate the quality.' },
    ],
  },
];

function promptOf(picture: RgbImage | null, given = ''): EnginePrompt {
  const images = picture === null ? [] : [picture];
  const messages = MESSAGES(picture !== null);
  const processed = images.map((image) => preprocess(image, model.processor));
  const question = promptSequence(model, messages, processed);
  const sequence = appendTokens(question, model.tokenizer.encode(given), 'observation');
  return { sequence, messages, images };
}

const SAMPLING = (changes: Partial<EngineSampling> = {}): EngineSampling => ({
  groupSize: GROUP,
  maxNewTokens: TOKENS,
  temperature: 0.7,
  rng: new Rng('rollouts'),
  ...changes,
});

const sampleOne = async (picture: RgbImage | null = null): Promise<EngineGroup> =>
  (await engine.sample([promptOf(picture)], SAMPLING()))[0]!;

/** Largest difference to what the trainer's forward pass says of the same tokens. */
async function difference(
  { sequence }: EnginePrompt,
  completions: readonly EngineCompletion[],
  temperature: number,
): Promise<number> {
  const batch = collate(
    completions.map(({ tokenIds }) => appendTokens(sequence, tokenIds, 'action')),
    model.config,
  );
  const bannedTokenIds = neverSampledTokenIds(model.config, model.tokenizer);
  const scores = tf.tidy(
    () => responseLogProbabilities(model, batch, { temperature, bannedTokenIds }).logProbabilities,
  );
  const own = await scores.data();
  scores.dispose();
  const sampled = completions.flatMap(({ logProbabilities }) => logProbabilities);
  return Math.max(...sampled.map((value, i) => Math.abs(value - own[i]!)));
}

describe.each(KINDS)('rollouts of a %s server', (kind) => {
  it('have the tokens and log-probabilities that the trainer computes, with and without pictures', async () => {
    open(kind, { checkLogProbabilities: true });
    await engine.synchronise(model, 7);
    const prompts = [promptOf(pictures[0]!), promptOf(null), promptOf(pictures[1]!, '<think>The')];
    const groups = await engine.sample(prompts, SAMPLING());
    for (const [i, { completions, failures }] of groups.entries()) {
      expect(failures).toEqual([]);
      expect(completions).toHaveLength(GROUP);
      expect(new Set(completions.map(({ version }) => version))).toEqual(new Set([7]));
      expect(await difference(prompts[i]!, completions, 0.7)).toBeLessThan(1e-4);
      for (const { tokenIds, text } of completions) expect(text).toBe(model.tokenizer.decode(tokenIds));
    }
  });

  it('come from the adapter of the last update, which alone is loaded', async () => {
    open(kind);
    await engine.synchronise(model, 1);
    for (const version of [2, 3]) {
      move(version);
      await engine.synchronise(model, version);
    }
    const prompt = promptOf(pictures[0]!);
    const [group] = await engine.sample([prompt], SAMPLING());
    expect(await difference(prompt, group!.completions, 0.7)).toBeLessThan(1e-4);
    expect([...server.loaded.keys()]).toEqual([expect.stringMatching(/^q-ponder-v3-[0-9a-f]{8}$/)]);
    const folder = fixture.path(`adapters-${used - 1}`);
    expect((await readdir(folder)).sort()).toEqual(['v000002', 'v000003']);
    move(4);
    expect(await difference(prompt, group!.completions, 0.7)).toBeGreaterThan(0.1);
  });

  it('go on after a restart that lost the adapter', async () => {
    open(kind, { concurrency: 2 });
    await engine.synchronise(model, 5);
    server.faults = ['restart', undefined];
    const prompts = [promptOf(null), promptOf(pictures[0]!)];
    const groups = await engine.sample(prompts, SAMPLING());
    expect(groups.map(({ completions }) => completions.length)).toEqual([GROUP, GROUP]);
    expect(await difference(prompts[0]!, groups[0]!.completions, 0.7)).toBeLessThan(1e-4);
    expect(notes).toEqual([expect.stringContaining('it is loaded again')]);
  });

  it('go on after the server was killed and started again', async () => {
    open(kind, { retries: 20, firstDelaySeconds: 0.02 });
    await engine.synchronise(model, 5);
    server.faults = ['killed'];
    const prompt = promptOf(pictures[0]!);
    const [group] = await engine.sample([prompt], SAMPLING());
    expect(group!.failures).toEqual([]);
    expect(await difference(prompt, group!.completions, 0.7)).toBeLessThan(1e-4);
  });

  it.each<[Fault, string]>([
    ['no-log-probabilities', 'missing-log-probabilities'],
    ['no-token-ids', 'missing-token-ids'],
  ])('are an error where no answer can be used: %s', async (fault, reason) => {
    open(kind);
    await engine.synchronise(model, 1);
    server.faults = [fault];
    // SGLang has ids beside the log-probabilities, so that both are lost together.
    await expect(sampleOne()).rejects.toMatchObject({
      code: 'REMOTE',
      message: expect.stringMatching(
        new RegExp(`none of ${GROUP} answers can be used, ${GROUP} of them: ${reason}`),
      ),
    });
  });

  it.each<[Fault, RegExp, RegExp]>([
    ['other-prompt', /the first other one is number 2, 5 /, /chat template/],
    ['more-picture-tokens', /read[s]? .* prompt/, /min_pixels/],
  ])('are an error where the server reads the prompt otherwise: %s', async (fault, message, hint) => {
    open(kind);
    await engine.synchronise(model, 1);
    server.faults = [fault];
    await expect(sampleOne(pictures[0]!)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  it('need log-probabilities at the sampling temperature', async () => {
    open(kind, { checkLogProbabilities: true });
    server.raw = true;
    await expect(engine.synchronise(model, 1)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(/on average at temperature 1000, where -6\.6\d is expected/),
      hint: expect.stringMatching(kind === 'vllm' ? /processed_logprobs/ : /SGLANG_RETURN_ORIGINAL_LOGPROB/),
    });
  });
});

describe('rollouts of a server in trouble', () => {
  it('that are under way when the next adapter comes keep theirs', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    const prompts = [promptOf(null), promptOf(pictures[0]!)];
    const sampled = engine.sample(prompts, SAMPLING());
    move(2);
    await engine.synchronise(model, 2);
    const groups = await sampled;
    const versions = groups.flatMap(({ completions }) => completions.map(({ version }) => version));
    expect(versions).toEqual(new Array(2 * GROUP).fill(1));
    expect([...server.loaded.keys()]).toEqual([expect.stringMatching(/^q-ponder-v2-/)]);
    move(1);
    expect(await difference(prompts[1]!, groups[1]!.completions, 0.7)).toBeLessThan(1e-4);
  });

  it.each<Fault>(['http-500', 'break', 'cut-json', 'stall'])(
    'are asked for again after %s',
    async (fault) => {
      open('vllm', fault === 'stall' ? { stallSeconds: 0.3, retries: 20 } : {});
      await engine.synchronise(model, 1);
      server.faults = [fault];
      const { completions, failures } = await sampleOne();
      expect(failures).toEqual([]);
      expect(completions).toHaveLength(GROUP);
    },
  );

  it.each<[Fault, string]>([
    ['one-log-probability-less', 'missing-log-probabilities'],
    ['picture-token', 'banned-token'],
    ['goes-on', 'wrong-end'],
    ['abort', 'server'],
  ])('leave out one answer of a group: %s', async (fault, reason) => {
    open('vllm');
    await engine.synchronise(model, 1);
    server.faults = [fault];
    const { completions, failures } = await sampleOne();
    expect(failures.map((failure) => failure.reason)).toEqual([reason]);
    expect(completions).toHaveLength(GROUP - 1);
    expect(await difference(promptOf(null), completions, 0.7)).toBeLessThan(1e-4);
  });

  it('leave out the group of a request that is refused, and keep the others', async () => {
    open('vllm', { concurrency: 1 });
    await engine.synchronise(model, 1);
    server.faults = ['http-400', undefined];
    const groups = await engine.sample([promptOf(null), promptOf(null)], SAMPLING());
    expect(groups.map(({ completions }) => completions.length)).toEqual([0, GROUP]);
    expect(groups[0]!.failures).toHaveLength(GROUP);
    expect(groups[0]!.failures[0]).toMatchObject({
      reason: 'refused',
      message: expect.stringContaining('max_tokens is too large'),
    });
  });

  it('stop at the deadline of a request that a living server never answers', async () => {
    open('vllm', { timeoutSeconds: 2, stallSeconds: 0.6, retries: 0 });
    await engine.synchronise(model, 1);
    server.faults = ['hang'];
    await expect(sampleOne()).rejects.toMatchObject({
      code: 'REMOTE',
      reason: 'timeout',
      message: expect.stringContaining('no complete reply within 2 s'),
    });
  });

  it('stop when the caller says so', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    server.faults = ['hang'];
    const stop = new AbortController();
    const sampled = engine.sample([promptOf(null)], SAMPLING({ signal: stop.signal }));
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(sampled).rejects.toThrow('enough');
  });

  it.each(KINDS)('leave out what a %s server gave fewer of', async (kind) => {
    open(kind);
    await engine.synchronise(model, 1);
    server.faults = ['fewer-choices'];
    const { completions, failures } = await sampleOne();
    expect(failures.map(({ reason }) => reason)).toEqual(['missing-choice']);
    expect(completions).toHaveLength(GROUP - 1);
  });
});

describe('a vllm server that answers with another adapter', () => {
  const answerOf = async (maxStaleness: number): Promise<EngineGroup> => {
    open('vllm', { maxStaleness, concurrency: 1 });
    await engine.synchronise(model, 1);
    server.otherModel = [...server.loaded.keys()][0]!;
    move(2);
    await engine.synchronise(model, 2);
    server.faults = ['other-model', undefined];
    return (await engine.sample([promptOf(null), promptOf(null)], SAMPLING()))[0]!;
  };

  it('has its answers left out', async () => {
    const { completions, failures } = await answerOf(0);
    expect(completions).toEqual([]);
    expect(failures[0]).toMatchObject({
      reason: 'stale-adapter',
      message: expect.stringContaining('version 1'),
    });
  });

  it('has them kept under the version that sampled them, within the bound', async () => {
    const { completions } = await answerOf(1);
    expect(completions.map(({ version }) => version)).toEqual([1, 1, 1]);
  });

  it('has those of the base model left out, whatever the bound', async () => {
    open('vllm', { maxStaleness: 100 });
    await engine.synchronise(model, 1);
    server.faults = ['other-model'];
    server.otherModel = 'base';
    await expect(sampleOne()).rejects.toThrow(
      /stale-adapter, base answered, which is no adapter of this run/,
    );
  });
});

describe('a server', () => {
  it('that is not there is an error at once told as such', async () => {
    open('vllm', { baseUrl: 'http://127.0.0.1:9', retries: 1 });
    await expect(engine.synchronise(model, 1)).rejects.toMatchObject({
      code: 'REMOTE',
      reason: 'unreachable',
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9: loading the adapter q-ponder-v1-/),
    });
    expect(engine.version).toBe(0);
  });

  it('gives the same answers for the same random stream, and others for another', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    const texts = async (seed: string): Promise<string[]> => {
      const groups = await engine.sample([promptOf(null), promptOf(null)], SAMPLING({ rng: new Rng(seed) }));
      return groups.map(({ completions }) => completions.map(({ text }) => text).join('\n'));
    };
    const first = await texts('one');
    expect(first[0]).not.toBe(first[1]);
    expect(await texts('one')).toEqual(first);
    expect(await texts('two')).not.toEqual(first);
  });

  it('is left without the adapter on closing', async () => {
    open('sglang');
    await engine.synchronise(model, 1);
    expect(server.loaded.size).toBe(1);
    await engine.close();
    expect(server.loaded.size).toBe(0);
    await expect(sampleOne()).rejects.toThrow(/synchronise comes before sample/);
  });

  it('that will not unload the adapter before is noted, and no error', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    move(2);
    server.reset();
    await engine.synchronise(model, 2);
    expect(notes).toEqual([
      expect.stringMatching(/^the adapter q-ponder-v1-.* stays loaded: .*cannot be found/),
    ]);
  });

  it('is not asked for temperatures at which banned tokens are within reach', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    await expect(engine.sample([promptOf(null)], SAMPLING({ temperature: 5.1 }))).rejects.toThrow(
      /allowed with a rollout server is 0 to 5/,
    );
  });
});

describe('what a server is sent', () => {
  it('is all that shapes the draw, so that no generation_config.json of the server does', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    await sampleOne();
    const { body, key } = server.requests.at(-1)!;
    expect(key).toBe('Bearer secret-key');
    const { prompt, logit_bias: bias, seed, model: name, ...rest } = body;
    expect(rest).toEqual({
      n: GROUP,
      max_tokens: TOKENS,
      temperature: 0.7,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      stop_token_ids: [...model.tokenizer.endOfSequenceIds],
      logprobs: 0,
      return_token_ids: true,
    });
    expect(Object.keys(bias).map(Number)).toEqual(neverSampledTokenIds(model.config, model.tokenizer));
    expect(prompt).toEqual(promptOf(null).sequence.tokenIds);
  });

  it('is an adapter whose target_modules are a list, as SGLang wants', async () => {
    open('sglang', { adapterFolderOnServer: '/on/server/' });
    await engine.synchronise(model, 12);
    expect(server.requests.at(-1)).toMatchObject({
      path: '/load_lora_adapter',
      body: { lora_path: '/on/server/v000012' },
    });
    const folder = fixture.path(`adapters-${used - 1}/v000012`);
    const config = JSON.parse(await readFile(join(folder, 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({
      r: 4,
      lora_alpha: 8,
      target_modules: ['down_proj', 'gate_proj', 'k_proj', 'o_proj', 'q_proj', 'up_proj', 'v_proj'],
    });
  });

  it('is the same adapter under the same name after a step back, and another under another', async () => {
    open('vllm');
    await engine.synchronise(model, 2);
    const [name] = server.loaded.keys();
    move(2);
    await engine.synchronise(model, 2);
    const [other] = server.loaded.keys();
    expect(other).not.toBe(name);
    move(1);
    await engine.synchronise(model, 2);
    expect([...server.loaded.keys()]).toEqual([name]);
  });

  it('is nothing of a model whose own weights are trained, or whose vision tower is adapted', async () => {
    open('vllm');
    const settings = loraSettingsSchema.parse({ rank: 2, vision: true });
    const seeing = { ...model, parameters: new Map(model.parameters) as typeof model.parameters };
    await expect(engine.synchronise(seeing, 1)).rejects.toMatchObject({
      hint: expect.stringContaining('lora: {}'),
    });
    seeing.parameters.adapter = createAdapter(model.config, settings, new Rng('seeing'));
    await expect(engine.synchronise(seeing, 1)).rejects.toThrow(/the adapter changes visual\.blocks\.0/);
    expect(server.requests).toEqual([]);
  });

  it('leaves adapters of later versions on the disk, which an earlier process may have made', async () => {
    open('vllm');
    const folder = fixture.path(`adapters-${used - 1}`);
    for (const name of ['v000001', 'v000009', 'notes']) await mkdir(join(folder, name), { recursive: true });
    await engine.synchronise(model, 3);
    expect((await readdir(folder)).sort()).toEqual(['notes', 'v000003', 'v000009']);
  });

  it('is shown without its key where the server repeats it', async () => {
    open('vllm');
    await engine.synchronise(model, 1);
    server.otherModel = 'secret-key';
    server.faults = ['other-model', 'http-401'];
    await expect(sampleOne()).rejects.toThrow(/stale-adapter, \[key\] answered/);
    await expect(sampleOne()).rejects.toMatchObject({
      reason: 'authentication',
      message: expect.stringContaining('the server said "Unauthorized [key]"'),
    });
  });
});
