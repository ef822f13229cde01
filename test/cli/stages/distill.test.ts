import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { distillConfigSchema, distillStage } from '../../../src/cli/stages/distill.ts';
import { Rng, silentProgress } from '../../../src/core/index.ts';
import {
  answer,
  delayed,
  type Handler,
  json,
  resetInside,
  stall,
  startChatServer,
  text,
} from '../../remote/chat-server.ts';
import { MAIN, runChild, startChild } from '../run-child.ts';
import {
  type Asked,
  goodAnswer,
  journaled,
  jsonLines,
  makeDataset,
  mosOf,
  questionIn,
  teaching,
} from './distill-fixture.ts';

const KEY = 'sk-teacher-0123456789';
const COUNT = 24;

let data: string;
let urls: Map<string, string>;
let made = 0;
const outFolder = () => join(data, `out-${made++}`);
const args = (baseUrl: string, out: string, ...more: string[]): string[] => [
  'distill',
  '--quiet',
  ...['--data', data, '--out', out, '--teacher', 'http'],
  ...['--teacher-url', baseUrl, '--teacher-model', 'vlm', ...more],
];
const run = (baseUrl: string, out: string, ...more: string[]) =>
  runChild(MAIN, ...args(baseUrl, out, ...more));
const keyOf = ({ id, sample }: Asked): string => `${id}/${sample}`;
const allKeys = (samples: number): string[] =>
  [...urls.values()]
    .flatMap((id) => Array.from({ length: samples }, (_, sample) => keyOf({ id, sample })))
    .sort();

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'distill-'));
  urls = await makeDataset(data, COUNT);
});
afterEach(() => {
  delete process.env.QPONDER_TEACHER_API_KEY;
});
afterAll(() => rm(data, { recursive: true }));

describe('q-ponder distill with a model behind an address', () => {
  it('asks two prompts about each image, documents the set, and keeps the key to itself', async () => {
    process.env.QPONDER_TEACHER_API_KEY = KEY;
    const { baseUrl, requests } = await startChatServer(teaching(urls));
    const out = outFolder();
    const { code, stdout, stderr } = await run(
      baseUrl,
      out,
      ...[
        '--set',
        'http.prompts=[{prompt: teacher/expert.v1, temperature: 0.2, samples: 2}, teacher/inspector.v1]',
      ],
      ...['--set', 'http.prices={prompt: 1, completion: 10}', '--keep', 'best'],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(requests).toHaveLength(3 * COUNT);
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(requests.map(({ body }) => body.temperature as number).filter((t) => t === 0.2)).toHaveLength(
      2 * COUNT,
    );

    const accepted = await jsonLines<{ id: string; asked: { sample: number }; response: string }>(
      join(out, 'accepted.jsonl'),
    );
    // Every answer hits the MOS exactly: the first of each image is the best.
    expect(accepted.map(({ id, asked, response }) => [id, asked.sample, response])).toEqual(
      [...urls.values()].map((id) => [id, 0, goodAnswer(id, 0)]),
    );
    const manifest = JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8'));
    const bytes = await readFile(join(out, 'accepted.jsonl'));
    expect(manifest).toMatchObject({
      complete: true,
      counts: { asked: 72, answers: 72, accepted: 72, selected: 24, rejected: 0, missing: 0 },
      files: { 'accepted.jsonl': { rows: 24, sha256: createHash('sha256').update(bytes).digest('hex') } },
      teacher: { name: 'vlm', settings: { address: baseUrl, guidance: 'all' } },
      // 100 prompt and 10 completion tokens each: 72 * (100 * 1 + 10 * 10) / 1e6.
      usage: { promptTokens: 7200, completionTokens: 720, cost: expect.closeTo(0.0144, 12) },
    });
    expect(manifest.teacher.settings.prompts[0]).toMatchObject({
      id: 'teacher/expert',
      temperature: 0.2,
      samples: 2,
    });
    const names = await readdir(out);
    expect(names.sort()).toEqual([
      'accepted.jsonl',
      'answers.jsonl',
      'distill.json',
      'manifest.json',
      'rejected.jsonl',
      'report.html',
      'report.json',
      'report.md',
      'unselected.jsonl',
    ]);
    const written = await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')));
    expect([stdout, ...written].join('\n')).not.toContain(KEY);
  });

  it('gets every answer out of a server that fails, stalls, cuts, sends HTML and repeats ids', async () => {
    const tries = new Map<string, number>();
    const failures: Handler[] = [
      json({ error: { message: 'overloaded' } }, 503, { 'retry-after': '0' }),
      text('<html><title>Bad gateway</title></html>', 'text/html'),
      text('{"id": "chatcmpl-1", "choices": [{"mess', 'application/json'),
      resetInside,
      json({ choices: [] }),
      stall,
    ];
    const handler: Handler = (request, response) => {
      const question = questionIn(request, urls);
      const key = keyOf(question);
      const tried = tries.get(key) ?? 0;
      tries.set(key, tried + 1);
      const failure = failures[Number(question.id.slice(1)) % (failures.length + 1)];
      return (tried === 0 && failure !== undefined ? failure : teaching(urls))(request, response);
    };
    const { baseUrl } = await startChatServer(handler);
    const out = outFolder();
    const { code, stderr } = await run(baseUrl, out, '--set', 'http.timeoutSeconds=3');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = await jsonLines<{ id: string; response: string }>(join(out, 'accepted.jsonl'));
    expect(rows.map(({ id, response }) => [id, response])).toEqual(
      [...urls.values()].map((id) => [id, goodAnswer(id, 0)]),
    );
  });

  it('killed at random moments, it loses no answer and asks no answered question again', async () => {
    const rng = new Rng(5);
    const { baseUrl, requests } = await startChatServer(delayed(60, teaching(urls)));
    const out = outFolder();
    const more = ['--samples', '6', '--concurrency', '3'];
    let known = new Set<string>();
    for (let round = 0; round < 4; round++) {
      const before = requests.length;
      const child = startChild(MAIN, args(baseUrl, out, ...more));
      const goal = 3 + rng.integer(20);
      await expect
        .poll(() => requests.length - before, { timeout: 50_000, interval: 1 })
        .toBeGreaterThanOrEqual(goal);
      await new Promise((resolve) => setTimeout(resolve, rng.uniform(0, 60)));
      child.process.kill('SIGKILL');
      await child.ended;
      const asked = requests.slice(before).map((request) => keyOf(questionIn(request, urls)));
      expect(asked.filter((key) => known.has(key))).toEqual([]);
      const kept = (await journaled(out)).map(keyOf);
      expect([...known].filter((key) => !kept.includes(key))).toEqual([]);
      // Whatever the server was asked is kept, but for what was in flight.
      expect(kept.length).toBeGreaterThanOrEqual(known.size + asked.length - 3);
      known = new Set(kept);
    }
    expect(known.size).toBeGreaterThan(0);
    const before = requests.length;
    expect(await run(baseUrl, out, ...more)).toMatchObject({ code: 0 });
    const asked = requests.slice(before).map((request) => keyOf(questionIn(request, urls)));
    expect(asked.sort()).toEqual(allKeys(6).filter((key) => !known.has(key)));
    expect((await journaled(out)).map(keyOf).sort()).toEqual(allKeys(6));
    expect(await jsonLines(join(out, 'accepted.jsonl'))).toHaveLength(6 * COUNT);
  }, 180_000);

  it('stops when the budget is spent, keeps what it has, and goes on with a larger one', async () => {
    const { baseUrl, requests } = await startChatServer(teaching(urls));
    const out = outFolder();
    const limits = ['--concurrency', '2', '--set', 'http.maxTokens=50'];
    const first = await run(baseUrl, out, ...limits, '--budget-tokens', '4000');
    expect(first.code).toBe(9);
    expect(first.stderr).toMatch(
      /^error: the budget is spent: \d+ of 24 places for answers are filled\nhint: raise/,
    );
    const answered = (await journaled(out)).length;
    expect(await jsonLines(join(out, 'accepted.jsonl'))).toHaveLength(answered);
    // 110 tokens each.
    expect(110 * answered).toBeLessThanOrEqual(4000);
    expect(answered).toBe(requests.length);
    // The same budget is spent already: nothing is asked.
    expect(await run(baseUrl, out, ...limits, '--budget-tokens', '4000')).toMatchObject({ code: 9 });
    expect(requests).toHaveLength(answered);
    expect(await run(baseUrl, out, ...limits, '--budget-tokens', '10000')).toMatchObject({ code: 0 });
    expect(requests).toHaveLength(COUNT);
  });

  it('asks again in place of rejected answers, and judges kept answers anew by other filters', async () => {
    const leaky = (id: string, sample: number): string =>
      sample === 0 && id === 'p3'
        ? goodAnswer(id, sample).replace('Overall', `The given score is ${mosOf(id)}. Overall`)
        : goodAnswer(id, sample);
    const { baseUrl, requests } = await startChatServer(teaching(urls, leaky));
    const out = outFolder();
    await run(baseUrl, out);
    expect(await jsonLines(join(out, 'rejected.jsonl'))).toMatchObject([
      { id: 'p3', rejectedBecause: [{ reason: 'leaked-score', detail: 'says "given score"' }] },
    ]);
    expect(await readFile(join(out, 'report.md'), 'utf8')).toContain('## Refused for leaked-score: 1');
    await run(baseUrl, out, '--set', 'filters.leak=false');
    expect(await jsonLines(join(out, 'rejected.jsonl'))).toEqual([]);
    expect(requests).toHaveLength(COUNT);
    await run(baseUrl, out, '--retry-rejected');
    expect(requests.slice(COUNT).map((request) => questionIn(request, urls))).toEqual([
      { id: 'p3', sample: 1 },
    ]);
    expect(await jsonLines(join(out, 'rejected.jsonl'))).toEqual([]);
    const accepted = await jsonLines<{ id: string; response: string }>(join(out, 'accepted.jsonl'));
    expect(accepted[3]?.response).toBe(goodAnswer('p3', 1));
  });

  it('replays a journal to the same rows', async () => {
    const { baseUrl } = await startChatServer(teaching(urls));
    const [out, again] = [outFolder(), outFolder()];
    await run(baseUrl, out, '--samples', '2');
    const { code } = await runChild(
      MAIN,
      ...['distill', '--quiet', '--data', data, '--out', again, '--teacher', 'replay'],
      ...['--from', join(out, 'answers.jsonl')],
    );
    expect(code).toBe(0);
    const responses = async (folder: string) =>
      (await jsonLines<{ id: string; response: string }>(join(folder, 'accepted.jsonl'))).map(
        ({ id, response }) => [id, response],
      );
    expect(await responses(again)).toEqual(await responses(out));
  });
});

describe('q-ponder distill says in a sentence what is wrong', () => {
  const refuse: Handler = json({ error: { message: 'no key' } }, 401);

  it('without a key, and which variable it belongs into', async () => {
    const { baseUrl } = await startChatServer(refuse);
    const { code, stderr } = await run(baseUrl, outFolder());
    expect(code).toBe(9);
    expect(stderr).toContain('hint: put the key into the environment variable QPONDER_TEACHER_API_KEY');
  });

  it('of a wrong address, after the first question', async () => {
    const { baseUrl } = await startChatServer(json({ error: 'nothing here' }, 404));
    const { code, stderr } = await run(baseUrl, outFolder());
    expect(code).toBe(9);
    expect(stderr).toMatch(/^error: http:\/\/127\.0\.0\.1:\d+\/v1, model vlm: .*\(HTTP 404\).*\nhint: .*\n$/);
  });

  it('of settings that changed on resume', async () => {
    const { baseUrl } = await startChatServer(teaching(urls));
    const out = outFolder();
    await run(baseUrl, out);
    const { code, stderr } = await run(baseUrl, out, '--set', 'http.temperature=1');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: .* holds answers to other questions: teacher\.settings\.prompts\.0\.temperature was 0\.7 and is 1\nhint/,
    );
    const other = await runChild(MAIN, 'distill', '--data', data, '--out', out, '--teacher', 'template');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('holds the answers of a model behind an address');
  });

  it('of a replay file that speaks of other images', async () => {
    const file = join(data, 'other.jsonl');
    await writeFile(file, '{"id": "x1", "text": "a"}\n');
    const { code, stderr } = await runChild(
      MAIN,
      ...['distill', '--data', data, '--out', outFolder(), '--teacher', 'replay', '--from', file],
    );
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^error: .*other\.jsonl does not fit the data set: it speaks of x1, the images are p0, p1, p2 and 21 more\n/,
    );
  });

  it.each([
    [
      'an unknown prompt',
      ['--prompts', 'teacher/none.v1'],
      /^error: there is no prompt "teacher\/none\.v1"\nhint: allowed are /,
    ],
    [
      'a prompt with a slot that nobody fills',
      ['--prompts', 'judge/pair.v1'],
      /wants the slots truth, first, second/,
    ],
    [
      'a budget of cost without prices',
      ['--budget', '3'],
      /^error: there is a budget of cost and no prices\n/,
    ],
    [
      'an address that is none',
      ['--teacher-url', 'nowhere'],
      /^error: the address of the chat server is not a URL\n/,
    ],
  ])('of %s', async (_what, more, message) => {
    const { code, stderr } = await run('http://127.0.0.1:9/v1', outFolder(), ...more);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('the plan of a distillation', () => {
  it('counts questions, tokens and cost without asking', async () => {
    const lines: string[] = [];
    const config = distillConfigSchema.parse({
      dataset: data,
      output: outFolder(),
      teacher: 'http',
      http: { samples: 2, maxTokens: 100, prices: { prompt: 0, completion: 10 } },
    });
    await distillStage.plan(config, { print: (line) => void lines.push(line) });
    expect(lines[0]).toBe('# 24 images, 2 answers of each: 48 questions to ask, 0 answered before');
    // 48 answers of 100 tokens at 10 a million.
    expect(lines[2]).toBe('# cost about 0.0480, 0.0480 if every answer is as long as allowed');
  });
});

describe('an interrupted distillation', () => {
  it('ends with 130 on SIGINT, and the same command asks for the rest alone', async () => {
    const { baseUrl, requests } = await startChatServer(
      delayed(100, (request, response) =>
        answer({ texts: [goodAnswer(questionIn(request, urls).id, 0)] })(request, response),
      ),
    );
    const out = outFolder();
    const child = startChild(MAIN, args(baseUrl, out, '--concurrency', '2'));
    await expect.poll(() => requests.length, { timeout: 50_000, interval: 1 }).toBeGreaterThanOrEqual(6);
    child.process.kill('SIGINT');
    expect((await child.ended).code).toBe(130);
    const kept = (await journaled(out)).map(keyOf);
    const before = requests.length;
    expect(await run(baseUrl, out)).toMatchObject({ code: 0 });
    const asked = requests.slice(before).map((request) => keyOf(questionIn(request, urls)));
    expect(asked.sort()).toEqual(allKeys(1).filter((key) => !kept.includes(key)));
  });
});

it('refuses the data set folder as the output folder', async () => {
  const config = distillConfigSchema.parse({ dataset: data, output: `${data}/.`, teacher: 'template' });
  const context = { progress: silentProgress, signal: new AbortController().signal, print: () => undefined };
  await expect(distillStage.run(config, context as never)).rejects.toMatchObject({
    message: `the output folder is the data set folder ${data}`,
  });
  expect(await readdir(data)).not.toContain('accepted.jsonl');
});
