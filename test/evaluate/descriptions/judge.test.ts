import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/core/index.ts';
import { loadShippedPrompt } from '../../../src/data/index.ts';
import {
  type Description,
  type DescriptionSet,
  type JudgeOptions,
  judgeAgreement,
  judgeDescriptions,
  readGrades,
  readVerdicts,
  selfPreference,
  summarizeGrades,
  summarizePairs,
} from '../../../src/evaluate/index.ts';
import { type ChatClientOptions, createChatClient } from '../../../src/remote/index.ts';
import {
  answer,
  type ChatServer,
  delayed,
  type Handler,
  json,
  startChatServer,
} from '../../remote/chat-server.ts';

let folder: string;
let made = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'judge-'));
});
afterAll(() => rm(folder, { recursive: true }));
const freshFolder = (): string => join(folder, `judging-${made++}`);

const said = (id: string, text: string | undefined = `text of ${id}`): Description => ({
  id,
  text,
  score: null,
  mos: 2,
  distortions: [{ type: 'jpeg', level: 4 }],
});

const setOf = (name: string, ...descriptions: Description[]): DescriptionSet => ({ name, descriptions });

async function options(over: Partial<JudgeOptions> = {}): Promise<JudgeOptions> {
  return {
    mode: 'grade',
    highest: 10,
    samples: 1,
    temperature: 0,
    maxTokens: 64,
    seed: 5,
    pictures: null,
    prompt: await loadShippedPrompt(over.mode === 'pair' ? 'judge/pair.v1' : 'judge/description.v2'),
    concurrency: 4,
    folder: null,
    ...over,
  };
}

const clientOf = ({ baseUrl }: ChatServer, over: ChatClientOptions = {}, model = 'judge-1') =>
  createChatClient({ baseUrl, model }, { firstDelayMs: 1, retries: 0, ...over });

const grades = (accuracy: number, completeness: number, reasonableness: number): string =>
  JSON.stringify({ accuracy, completeness, reasonableness });

/** Answers by what stands in the prompt. */
const replying =
  (reply: (prompt: string, seed: number) => string): Handler =>
  (request, response) =>
    answer({ texts: [reply(promptIn(request.body), request.body.seed)] })(request, response);

const promptIn = (body: { messages: { content: { type: string; text: string }[] }[] }): string =>
  body.messages[0]?.content.find(({ type }) => type === 'text')?.text ?? '';

describe('readGrades', () => {
  const good = { value: { accuracy: 7, completeness: 0, reasonableness: 10 } };
  it.each([
    ['bare', grades(7, 0, 10)],
    ['in a code fence', `\`\`\`json\n${grades(7, 0, 10)}\n\`\`\``],
    ['after words', `Here they are: ${grades(7, 0, 10)}. Done.`],
    ['after a reasoning with other numbers', `<think>maybe ${grades(1, 1, 1)}</think>${grades(7, 0, 10)}`],
    ['said twice', `${grades(7, 0, 10)}\n${grades(7, 0, 10)}`],
    ['with a remark', '{"remark": "fine", "accuracy": 7, "completeness": 0, "reasonableness": 10}'],
  ])('reads them %s', (_what, reply) => {
    expect(readGrades(reply, 10)).toEqual(good);
  });

  it.each([
    ['words', 'The accuracy is 7 of 10.', /no JSON object/],
    ['nothing', '', /no JSON object/],
    ['cut JSON', '{"accuracy": 7, "comple', /no JSON object/],
    ['two that differ', `${grades(7, 0, 10)} or ${grades(8, 0, 10)}`, /2 JSON objects with different/],
    ['a missing axis', '{"accuracy": 7, "completeness": 0}', /reasonableness is missing/],
    ['a fraction', grades(7.5, 0, 10), /accuracy is 7.5, allowed is a whole number from 0 to 10/],
    ['a number in quotes', '{"accuracy": "7", "completeness": 0, "reasonableness": 1}', /accuracy is "7"/],
    ['a grade above the scale', grades(7, 0, 11), /reasonableness is 11/],
    ['a grade below it', grades(-1, 0, 1), /accuracy is -1/],
    ['null', '{"accuracy": null, "completeness": 0, "reasonableness": 1}', /accuracy is null/],
    [
      'the question marks of the prompt',
      '{"accuracy": ?, "completeness": ?, "reasonableness": ?}',
      /no JSON object/,
    ],
  ])('gives no grade for %s', (_what, reply, problem) => {
    expect(readGrades(reply, 10)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('keeps to the scale asked for', () => {
    expect(readGrades(grades(2, 1, 0), 2)).toHaveProperty('value');
    expect(readGrades(grades(3, 1, 0), 2)).toHaveProperty('problem');
  });
});

it('readVerdicts knows first, second and tie', () => {
  const reply = '{"accuracy": "first", "completeness": "tie", "reasonableness": "second"}';
  expect(readVerdicts(reply)).toEqual({ value: JSON.parse(reply) });
  expect(readVerdicts(reply.replace('tie', 'both'))).toHaveProperty('problem');
});

describe('grading', () => {
  it('shows the judge what is known and the description, on the scale asked for', async () => {
    const server = await startChatServer(replying(() => grades(1, 1, 1)));
    await judgeDescriptions([setOf('s', said('a'))], clientOf(server), await options({ highest: 2 }));
    const { body } = server.requests[0] ?? {};
    expect(body).toMatchObject({ temperature: 0, max_tokens: 64, seed: 5 });
    const prompt = promptIn(body);
    expect(prompt).toContain('Distortions in the picture, and no others: strong jpeg compression.');
    expect(prompt).toContain('Viewers rate it 2.00 on a scale from 1 (bad) to 5 (excellent): poor.');
    expect(prompt).toContain('----- begin -----\ntext of a\n----- end -----');
    expect(prompt).toContain('each from 0 to 2:');
  });

  it('shows the picture when asked to', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
    await writeFile(join(folder, 'a.png'), png);
    const server = await startChatServer(replying(() => grades(1, 1, 1)));
    const described = { ...said('a'), image: 'a.png' };
    await judgeDescriptions([setOf('s', described)], clientOf(server), await options({ pictures: folder }));
    expect(server.requests[0]?.body.messages[0].content[0]).toEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${png.toString('base64')}` },
    });
  });

  it('takes the mean over samples and pictures, and leaves out what cannot be read', async () => {
    const reply = (prompt: string, seed: number): string => {
      if (prompt.includes('text of a')) return grades(seed === 5 ? 4 : 8, 0, 10);
      if (prompt.includes('text of b')) return seed === 5 ? grades(10, 0, 10) : 'I would say 9.';
      return 'No.';
    };
    const server = await startChatServer(replying(reply));
    const sets = [setOf('s', said('a'), said('b'), said('c'), { ...said('d'), text: undefined })];
    const judging = await judgeDescriptions(
      sets,
      clientOf(server),
      await options({ samples: 2, temperature: 0.7 }),
    );
    const [summary] = summarizeGrades(judging, { resamples: 100 });
    // a: (4 + 8) / 2, b: 10 alone; c has no grade, and d was not asked about.
    expect(summary?.axes.accuracy).toMatchObject({ n: 2, mean: { value: 8 } });
    expect(summary?.axes.completeness).toMatchObject({ n: 2, mean: { value: 0 } });
    expect(summary?.unparsable).toMatchObject({ count: 3, of: 6 });
    expect(server.requests).toHaveLength(6);
  });

  it('has a reason in place of a mean when nothing could be read', async () => {
    const server = await startChatServer(replying(() => 'no'));
    const judging = await judgeDescriptions([setOf('s', said('a'))], clientOf(server), await options());
    expect(summarizeGrades(judging)[0]?.axes.accuracy.mean).toMatchObject({ reason: 'too-few' });
  });

  it('keeps a refusal as such and asks it once', async () => {
    const server = await startChatServer(answer({ texts: ['x'], finishReason: 'content_filter' }));
    const judging = await judgeDescriptions([setOf('s', said('a'))], clientOf(server), await options());
    expect(judging.judgements).toMatchObject([{ status: 'refused' }]);
    expect(summarizeGrades(judging)[0]).toMatchObject({ refused: 1, unparsable: { count: 0 } });
  });

  it('counts questions without a reply, apart from the grades', async () => {
    const failing: Handler = (request, response) =>
      (promptIn(request.body).includes('text of b') ? json({}, 500) : answer({ texts: [grades(3, 3, 3)] }))(
        request,
        response,
      );
    const server = await startChatServer(failing);
    const judging = await judgeDescriptions(
      [setOf('s', said('a'), said('b'))],
      clientOf(server),
      await options(),
    );
    expect(judging).toMatchObject({ asked: 2, failed: { server: 1 }, stoppedBy: null });
    expect(summarizeGrades(judging)[0]?.axes.accuracy).toMatchObject({ n: 1, mean: { value: 3 } });
  });

  it('stops at once when no question can succeed', async () => {
    const server = await startChatServer(json({ error: { message: 'wrong key' } }, 401));
    const sets = [setOf('s', ...Array.from({ length: 50 }, (_, i) => said(`p${i}`)))];
    const judging = await judgeDescriptions(sets, clientOf(server), await options({ concurrency: 2 }));
    expect(judging.stoppedBy?.reason).toBe('authentication');
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });

  it('stops cleanly at the budget, and goes on where it stopped with a larger one', async () => {
    const server = await startChatServer(replying(() => grades(3, 3, 3)));
    const sets = [setOf('s', ...Array.from({ length: 10 }, (_, i) => said(`p${i}`)))];
    const where = { folder: freshFolder() };
    const first = await judgeDescriptions(
      sets,
      clientOf(server, { budget: { requests: 4 } }),
      await options(where),
    );
    expect([first.stoppedBy?.reason, first.judgements.length]).toEqual(['budget', 4]);
    const second = await judgeDescriptions(sets, clientOf(server), await options(where));
    expect([second.stoppedBy, second.kept, second.judgements.length]).toEqual([null, 4, 10]);
    expect(server.requests).toHaveLength(10);
  });

  it.each([
    ['several samples at temperature 0', { samples: 2 }, 'CONFIG'],
    ['a comparison of one set', { mode: 'pair' as const }, 'CONFIG'],
  ])('refuses %s', async (_what, over, code) => {
    const server = await startChatServer(replying(() => ''));
    const judging = judgeDescriptions([setOf('s', said('a'))], clientOf(server), await options(over));
    await expect(judging).rejects.toMatchObject({ code });
    expect(server.requests).toHaveLength(0);
  });

  it('refuses to judge where nothing is known and no picture is shown', async () => {
    const server = await startChatServer(replying(() => ''));
    const blind = { id: 'a', text: 'x', score: null };
    const judging = judgeDescriptions([setOf('s', blind)], clientOf(server), await options());
    await expect(judging).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(/1 of 1 descriptions: a/),
    });
  });
});

describe('a judging that was stopped', () => {
  const descriptions = Array.from({ length: 12 }, (_, i) => said(`p${i}`));
  const reply = (prompt: string): string => grades(Number(/text of p(\d+)/.exec(prompt)?.[1]) % 11, 5, 5);

  it('ends with the bytes of an undisturbed one, and asks nothing twice', async () => {
    const server = await startChatServer(delayed(5, replying(reply)));
    const whole = freshFolder();
    await judgeDescriptions(
      [setOf('s', ...descriptions)],
      clientOf(server),
      await options({ folder: whole }),
    );
    const undisturbed = await readFile(join(whole, 'judgements.jsonl'), 'utf8');
    expect(server.requests).toHaveLength(12);

    const stop = new AbortController();
    const interrupting: Handler = (request, response) => {
      if (again.requests.length === 5) stop.abort(new InterruptedError('stopped'));
      return delayed(5, replying(reply))(request, response);
    };
    const again = await startChatServer(interrupting);
    const folderOf = { folder: freshFolder(), concurrency: 2 };
    const first = judgeDescriptions(
      [setOf('s', ...descriptions)],
      // The address is part of what makes a judging: the first server's is asked again later.
      { ...clientOf(again, { signal: stop.signal }), address: server.baseUrl },
      await options(folderOf),
    );
    await expect(first).rejects.toBeInstanceOf(InterruptedError);
    const journal = join(folderOf.folder, 'judgements.jsonl');
    const kept = (await readFile(journal, 'utf8')).split('\n').length - 1;
    expect(kept).toBeGreaterThan(0);
    // What a killed process leaves: half a row at the end.
    await appendFile(journal, '{"key": "s/p1');
    await judgeDescriptions([setOf('s', ...descriptions)], clientOf(server), await options(folderOf));
    expect(await readFile(journal, 'utf8')).toBe(undisturbed);
    expect(server.requests).toHaveLength(12 + 12 - kept);
  });

  it('asks nothing when all is there, and refuses to mix with another', async () => {
    const server = await startChatServer(replying(reply));
    const where = { folder: freshFolder() };
    const sets = [setOf('s', ...descriptions)];
    await judgeDescriptions(sets, clientOf(server), await options(where));
    await judgeDescriptions(sets, clientOf(server), await options(where));
    expect(server.requests).toHaveLength(12);
    for (const [over, changed] of [
      [{ seed: 6 }, sets],
      [{}, [setOf('s', { ...said('p0'), text: 'other words' }, ...descriptions.slice(1))]],
    ] as const) {
      const judging = judgeDescriptions(changed, clientOf(server), await options({ ...where, ...over }));
      await expect(judging).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringMatching(/another judging/),
      });
    }
  });

  it('refuses a journal that was changed by somebody else', async () => {
    const server = await startChatServer(replying(reply));
    const where = { folder: freshFolder() };
    await judgeDescriptions([setOf('s', said('p1'))], clientOf(server), await options(where));
    await appendFile(join(where.folder, 'judgements.jsonl'), '{"key": "s/p1/0"}\n');
    const judging = judgeDescriptions([setOf('s', said('p1'))], clientOf(server), await options(where));
    await expect(judging).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(/:2 is no judgement/),
    });
  });
});

describe('comparing two sets', () => {
  const verdicts = (verdict: string): string =>
    JSON.stringify({ accuracy: verdict, completeness: 'tie', reasonableness: 'first' });
  const A = setOf('A', ...['p', 'q', 'r'].map((id) => said(id, `A of ${id}`)));
  const B = setOf('B', ...['p', 'q', 'r', 'alone'].map((id) => said(id, `B of ${id}`)));

  it('asks in both orders and lets only what both say count', async () => {
    // The judge finds A of p and B of q more accurate wherever they stand, and whatever stands first of r.
    const reply = (prompt: string): string => {
      const first = /begin first -----\n([AB]) of (\w)/.exec(prompt);
      const [, set, id] = first ?? [];
      const winner = { p: 'A', q: 'B' }[id ?? ''];
      return verdicts(winner === undefined || winner === set ? 'first' : 'second');
    };
    const server = await startChatServer(replying(reply));
    const judging = await judgeDescriptions([A, B], clientOf(server), await options({ mode: 'pair' }));
    expect(server.requests).toHaveLength(6);
    const { axes, incomplete } = summarizePairs(judging);
    expect(axes.accuracy).toMatchObject({ winsA: 1, winsB: 1, ties: 0, byPosition: 1 });
    // p: first, second; q: second, first; r: first, first.
    expect(axes.accuracy.firstPreferred).toMatchObject({ count: 4, of: 6 });
    expect(axes.completeness).toMatchObject({ ties: 3, winRateA: { of: 0 } });
    expect(axes.reasonableness).toMatchObject({ byPosition: 3, firstPreferred: { count: 6, of: 6 } });
    expect(incomplete).toBe(0);
  });

  it('does not count a comparison of which one order cannot be read', async () => {
    const reply = (prompt: string): string =>
      prompt.indexOf('A of p') > prompt.indexOf('B of p') ? '?' : verdicts('first');
    const server = await startChatServer(replying(reply));
    const pair = [setOf('A', said('p', 'A of p')), setOf('B', said('p', 'B of p'))];
    const summary = summarizePairs(
      await judgeDescriptions(pair, clientOf(server), await options({ mode: 'pair' })),
    );
    expect(summary).toMatchObject({ incomplete: 1, unparsable: { count: 1, of: 2 } });
    expect(summary.axes.accuracy).toMatchObject({ winsA: 0, winsB: 0, byPosition: 0 });
  });
});

it('two judges agree by quadratic weighted kappa over the pictures that both graded', async () => {
  const one = [0, 1, 2, 2, 1];
  const other = [0, 1, 1, 2, 0];
  const judge = async (given: readonly number[], model: string) => {
    const reply = (prompt: string): string => {
      const at = Number(/text of p(\d)/.exec(prompt)?.[1]);
      return at === 5 ? 'no' : grades(given[at] as number, 1, 2);
    };
    const server = await startChatServer(replying(reply));
    const sets = [setOf('s', ...Array.from({ length: 6 }, (_, i) => said(`p${i}`)))];
    return judgeDescriptions(sets, clientOf(server, {}, model), await options({ highest: 2 }));
  };
  const [agreement] = judgeAgreement(await judge(one, 'j1'), await judge(other, 'j2'), { resamples: 100 });
  // Squared differences 0 0 1 0 1: 2 / 5. By chance, with counts {0: 1, 1: 2, 2: 2} and {0: 2, 1: 2, 2: 1}:
  // (1*2*1 + 1*1*4 + 2*2*1 + 2*1*1 + 2*2*4 + 2*2*1) / 25 = 32 / 25.
  expect(agreement?.axes.accuracy).toMatchObject({
    n: 5,
    kappa: { value: expect.closeTo(1 - 2 / 5 / (32 / 25), 12) },
  });
  expect(agreement?.axes.completeness.kappa).toMatchObject({ reason: 'constant-scores' });
  expect(agreement?.judges).toEqual(['j1', 'j2']);
});

describe('selfPreference', () => {
  it.each([
    ['Qwen/Qwen2.5-VL-72B-Instruct', 'qwen2.5-vl-72b-instruct:free', 'same-model'],
    ['qwen2.5-vl-72b-instruct', 'Qwen2.5-VL-7B-Instruct', 'same-family'],
    ['gpt-4o', 'openai/gpt-4-turbo', 'same-family'],
    ['gpt-4o', 'Qwen2.5-VL-7B-Instruct', null],
    ['gpt-4o', null, null],
    ['gpt-4o', '', null],
  ])('judge %s about %s: %s', (judge, described, expected) => {
    expect(selfPreference(judge, described)).toBe(expected);
  });
});
