import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answer, delayed, type Handler, json, startChatServer } from '../../remote/chat-server.ts';
import { MAIN, runChild, startChild } from '../run-child.ts';

const KEY = 'sk-judge-0123456789';
const IDS = Array.from({ length: 8 }, (_, i) => `p${i}`);

let folder: string;
let files: [string, string];
const run = (...args: string[]) => runChild(MAIN, 'eval', 'descriptions', '--quiet', ...args);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eval-descriptions-'));
  files = [join(folder, 'one.jsonl'), join(folder, 'two.jsonl')];
  for (const [at, file] of files.entries()) {
    const rows = IDS.map((id) => ({
      id,
      text: `text of ${id}: ${at === 0 ? 'strong' : 'slight'} jpeg compression, the quality is poor.`,
      score: 2,
      distortions: [{ type: 'jpeg', level: 4 }],
    }));
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
});
afterEach(() => {
  delete process.env.QPONDER_JUDGE_API_KEY;
  delete process.env.QPONDER_JUDGE2_API_KEY;
});
afterAll(() => rm(folder, { recursive: true }));

const idIn = (body: { messages: { content: { text: string }[] }[] }): string =>
  /text of (p\d)/.exec(body.messages[0]?.content[0]?.text ?? '')?.[1] ?? '';

const grading: Handler = (request, response) => {
  const accuracy = Number(idIn(request.body).slice(1)) % 3;
  return answer({ texts: [JSON.stringify({ accuracy, completeness: 2, reasonableness: 1 })] })(
    request,
    response,
  );
};

describe('q-ponder eval descriptions', () => {
  it('measures without a judge, one column per file', async () => {
    const { code, stdout, stderr } = await run(...files);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ +one\.jsonl +two\.jsonl$/m);
    expect(stdout).toMatch(/^severity exact +1\.000 \[[\d., ]+\] \(8\/8\) +0\.000 \[[\d., ]+\] \(0\/8\)$/m);
  });

  it('asks two judges with their keys, prints grades and agreement, and keeps the keys to itself', async () => {
    process.env.QPONDER_JUDGE_API_KEY = KEY;
    process.env.QPONDER_JUDGE2_API_KEY = `${KEY}-second`;
    const servers = [await startChatServer(grading), await startChatServer(grading)];
    const out = join(folder, 'two-judges');
    const { code, stdout, stderr } = await run(
      files[0],
      '--judge-url',
      ...servers.map(({ baseUrl }) => baseUrl),
      '--judge-model',
      'judge-a',
      'judge-b',
      '--models',
      'org/judge-b',
      '--set',
      'judge.highest=2',
      '--out',
      out,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(servers.map(({ requests }) => requests[0]?.headers.authorization)).toEqual([
      `Bearer ${KEY}`,
      `Bearer ${KEY}-second`,
    ]);
    // Accuracy 0 1 2 0 1 2 0 1: 7 / 8.
    expect(stdout).toMatch(/^judge-a +one\.jsonl +0\.88 \[[\d., ]+\] n 8/m);
    expect(stdout).toMatch(/^judge-b .*SELF: the judge wrote these$/m);
    expect(stdout).toMatch(/^judge-a \/ judge-b +one\.jsonl +1\.000/m);
    const names = (await readdir(out, { recursive: true })).filter((name) => name.includes('.json'));
    expect(names.sort()).toEqual([
      'descriptions.json',
      'judge-1/judgements.jsonl',
      'judge-1/judging.json',
      'judge-2/judgements.jsonl',
      'judge-2/judging.json',
    ]);
    const written = await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')));
    expect([stdout, ...written].join('\n')).not.toContain(KEY);
  });

  it('compares two files in both orders', async () => {
    const first: Handler = answer({
      texts: ['{"accuracy": "first", "completeness": "first", "reasonableness": "first"}'],
    });
    const { baseUrl, requests } = await startChatServer(first);
    const { code, stdout } = await run(...files, '--pair', '--judge-url', baseUrl, '--judge-model', 'judge');
    expect(code).toBe(0);
    expect(requests).toHaveLength(16);
    // Always the first place: nobody wins.
    expect(stdout).toMatch(
      /^judge +accuracy +0 +0 +0 +8 +- \(nothing-to-count\) \(0\/0\) +1\.000 \[[\d., ]+\] \(16\/16\)$/m,
    );
  });

  it('ends with the code of a remote model when replies are missing, after printing what is there', async () => {
    const failing: Handler = (request, response) =>
      (idIn(request.body) === 'p3' ? json({ error: { message: 'no' } }, 400) : grading)(request, response);
    const { baseUrl } = await startChatServer(failing);
    const { code, stdout, stderr } = await run(files[0], '--judge-url', baseUrl, '--judge-model', 'judge');
    expect(code).toBe(9);
    expect(stdout).toMatch(/judge judge: 7 of 8 replies \(0 from before, 1 missing\)/);
    expect(stderr).toMatch(/gave no reply to 1 of 8 questions \(bad-request 1\)/);
  });

  it('goes on after kill -9 without asking again for a reply that it has', async () => {
    const { baseUrl, requests } = await startChatServer(delayed(50, grading));
    const out = join(folder, 'killed');
    const args = [
      files[0],
      '--judge-url',
      baseUrl,
      '--judge-model',
      'judge',
      '--out',
      out,
      '--set',
      'judge.concurrency=1',
    ];
    const child = startChild(MAIN, ['eval', 'descriptions', '--quiet', ...args]);
    await expect.poll(() => requests.length, { timeout: 30_000, interval: 10 }).toBeGreaterThanOrEqual(4);
    child.process.kill('SIGKILL');
    await child.ended;
    const journal = join(out, 'judge-1', 'judgements.jsonl');
    const kept = (await readFile(journal, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id as string);
    expect(kept.length).toBeGreaterThanOrEqual(2);
    const before = requests.length;
    expect(await run(...args)).toMatchObject({ code: 0 });
    const askedAgain = requests.slice(before).map(({ body }) => idIn(body));
    expect(askedAgain.sort()).toEqual(IDS.filter((id) => !kept.includes(id)));
    const rows = (await readFile(journal, 'utf8')).trim().split('\n');
    expect(rows.map((line) => JSON.parse(line).id)).toEqual(IDS);
  });

  it.each([
    [
      'a judge without a model',
      ['--judge-url', 'http://localhost/v1'],
      /1 judge address\(es\) and 0 judge model/,
    ],
    ['names for another number of files', ['--names', 'a', 'b'], /2 names for 1 file/],
  ])('refuses %s', async (_what, args, message) => {
    const { code, stderr } = await run(files[0], ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
