import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScorer, type Scorer } from '../../../src/scoring/index.ts';
import { ERROR_META } from '../../../src/server/index.ts';
import { MAIN, runChild } from '../../cli/run-child.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../../train/stage-fixture.ts';

let fixture: StageFixture;
let model: string;
let root: string;
let scorer: Scorer;
let client: Client;
let files: [string, string];

const args = (...more: string[]) => ['mcp', '--threads', '1', '--quiet', '--root', root, ...more];

/** The official client with the program in a process of its own. */
async function connect(...more: string[]): Promise<Client> {
  const connected = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', 'tsx', MAIN, ...args(...more)],
    stderr: 'ignore',
  });
  await connected.connect(transport, { timeout: 120_000 });
  // Structured answers are checked against the schemas that are listed.
  await connected.listTools();
  return connected;
}

async function call(name: string, given: Record<string, unknown>, by = client) {
  const { content, isError, structuredContent, _meta } = await by.callTool(
    { name, arguments: given },
    undefined,
    {
      timeout: 120_000,
    },
  );
  const [{ text }] = content as [{ text: string }];
  return { text, isError, structuredContent, error: _meta?.[ERROR_META] };
}

beforeAll(async () => {
  fixture = await createStageFixture();
  model = await teachContract(fixture);
  root = join(fixture.data, 'images');
  const [one, other] = (await records(fixture.data)).map(({ image }) => join(fixture.data, image));
  files = [one!, other!];
  scorer = await createScorer({ model, mode: 'expected' });
  client = await connect('--model', model);
});
afterAll(async () => {
  await client?.close();
  scorer?.close();
  await fixture?.remove();
});

it('offers two tools that only read', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['score_image', 'compare_images']);
  for (const { annotations, description } of tools) {
    expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(description).toContain(root);
  }
  expect(client.getServerVersion()).toMatchObject({ name: 'q-ponder' });
});

describe('score_image', () => {
  it('gives what the library gives, as structure and as text', async () => {
    const expected = await scorer.score(files[0]);
    const { text, isError, structuredContent } = await call('score_image', { path: files[0] });
    expect(isError).toBeUndefined();
    const { status, score, level, interval, std, reasoning, distortions, modelSha256, promptHash } = expected;
    expect(structuredContent).toEqual({
      ...{ status, score, level, interval, std, reasoning, distortions, modelSha256, promptHash },
      text: expected.text,
      mode: 'expected',
    });
    expect(text).toBe(
      `Quality ${score!.toFixed(2)} of 5 (${level}), 95 % interval ${interval!.low.toFixed(2)} to ${interval!.high.toFixed(2)}.\nReasoning: ${reasoning}`,
    );
  });

  it('takes a path, a data URL and base64 alike', async () => {
    const base64 = (await readFile(files[1])).toString('base64');
    const byPath = await call('score_image', { path: files[1] });
    expect(byPath.structuredContent).toMatchObject({ status: 'ok' });
    const byName = await call('score_image', { path: files[1].slice(root.length + 1) });
    const byUrl = await call('score_image', { data: `data:image/png;base64,${base64}` });
    const byBase64 = await call('score_image', { data: base64.replace(/.{76}/g, '$&\n') });
    for (const other of [byName, byUrl, byBase64]) expect(other).toEqual(byPath);
  });

  it('reads the score in the mode that is asked for', async () => {
    const expected = await scorer.score(files[0], { mode: 'greedy' });
    const { structuredContent } = await call('score_image', { path: files[0], mode: 'greedy' });
    expect(structuredContent).toMatchObject({ mode: 'greedy', score: expected.score });
    expect(structuredContent).not.toHaveProperty('interval');
  });

  it('answers several calls at once, each with its own picture', async () => {
    const [one, other] = await Promise.all(files.map((path) => call('score_image', { path })));
    const expected = await Promise.all(files.map((path) => scorer.score(path)));
    expect(one!.structuredContent).toMatchObject({ score: expected[0]!.score, text: expected[0]!.text });
    expect(other!.structuredContent).toMatchObject({ score: expected[1]!.score, text: expected[1]!.text });
  });
});

it('a call that is taken back leaves no trace in the log, and the next one is answered', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', 'tsx', MAIN, ...args('--model', model).filter((arg) => arg !== '--quiet')],
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const impatient = new Client({ name: 'test', version: '1' });
  await impatient.connect(transport, { timeout: 120_000 });
  const taken = new AbortController();
  // Before the model is loaded, so that no machine is fast enough to answer.
  const call = { name: 'score_image', arguments: { path: files[0] } };
  const first = impatient.callTool(call, undefined, { signal: taken.signal });
  taken.abort();
  await expect(first).rejects.toThrow();
  const second = await impatient.callTool(call, undefined, { timeout: 120_000 });
  expect(second.structuredContent).toMatchObject({ status: 'ok' });
  await impatient.close();
  expect(log).toContain(`model: ${model}`);
  expect(log).not.toContain('error');
});

it('compare_images gives what the library gives', async () => {
  const { better, difference, interval, probability, a, b } = await scorer.compare(files[0], files[1]);
  const reply = await call('compare_images', { a: { path: files[0] }, b: { path: files[1] } });
  expect(reply.structuredContent).toMatchObject({
    ...{ better, difference, interval, probability },
    a: { score: a.score, text: a.text },
    b: { score: b.score, text: b.text },
  });
  expect(reply.text).toContain(
    `Image ${better} scores higher by ${Math.abs(difference!).toFixed(2)} (a minus b: 95 % interval ${interval!.low.toFixed(2)} to ${interval!.high.toFixed(2)}). The model holds a better with probability ${probability!.toFixed(2)}.`,
  );
});

it('compare_images of a server whose usual mode is greedy is made as the library makes it', async () => {
  const greedy = await connect('--model', model, '--mode', 'greedy');
  const given = { a: { path: files[0] }, b: { path: files[1] } };
  const { difference, probability } = await scorer.compare(files[0], files[1]);
  const { structuredContent } = await call('compare_images', given, greedy);
  expect(structuredContent).toMatchObject({ difference, probability, a: { mode: 'expected' } });
  const asked = await call('compare_images', { ...given, mode: 'greedy' }, greedy);
  expect(asked.structuredContent).toMatchObject({ probability: null, a: { mode: 'greedy' } });
  await greedy.close();
});

describe('a call that fails is a tool error with its code, and the next one is answered', () => {
  beforeAll(async () => {
    await writeFile(join(root, 'notes.png'), 'no picture');
    await symlink(join(fixture.data, 'records.jsonl'), join(root, 'link.png'));
    await mkdir(join(root, 'folder'));
    const cut = await readFile(files[0]);
    await writeFile(join(root, 'cut.png'), cut.subarray(0, cut.length / 2));
  });
  it.each([
    [
      'outside',
      { path: '/etc/hostname' },
      'INPUT',
      '"/etc/hostname" is outside the folders that may be read',
    ],
    [
      'up',
      { path: '../records.jsonl' },
      'INPUT',
      '"../records.jsonl" is outside the folders that may be read',
    ],
    ['a link out', { path: 'link.png' }, 'INPUT', '"link.png" is outside the folders that may be read'],
    ['missing', { path: 'gone.png' }, 'STORAGE', 'reading image gone.png failed (ENOENT)'],
    ['a folder', { path: 'folder' }, 'INPUT', 'folder is no regular file'],
    ['no picture', { path: 'notes.png' }, 'INPUT', 'image is not an image that can be read'],
    ['cut short', { path: 'cut.png' }, 'INPUT', expect.stringContaining('image is broken')],
    ['neither', {}, 'INPUT', 'neither path nor data is given'],
    ['both', { path: 'a', data: 'b' }, 'INPUT', 'path and data are both given'],
    ['an address', { data: 'http://127.0.0.1/a.png' }, 'INPUT', 'data is neither a data URL nor base64'],
    ['base64 of no picture', { data: 'aGVsbG8=' }, 'INPUT', 'image is not an image that can be read'],
  ])('%s', async (_what, given, code, message) => {
    const { isError, error, text, structuredContent } = await call('score_image', given);
    expect(isError).toBe(true);
    expect(error).toMatchObject({ code, message, hint: expect.stringMatching(/./) });
    expect(text).toMatch(new RegExp(`^${code}: .+\nhint: .+`));
    expect(structuredContent).toBeUndefined();
  });

  it('of a comparison too', async () => {
    const { isError, error } = await call('compare_images', {
      a: { path: files[0] },
      b: { path: 'gone.png' },
    });
    expect(isError).toBe(true);
    expect(error).toMatchObject({ code: 'STORAGE' });
    const text = { a: { path: files[0] }, b: { path: 'notes.png' } };
    expect((await call('compare_images', text)).error).toMatchObject({
      code: 'INPUT',
      message: 'picture b: image is not an image that can be read',
    });
  });

  it.each([
    ['an unknown mode', { path: 'a.png', mode: 'best' }],
    ['an unknown argument', { path: 'a.png', url: 'x' }],
    ['a number for a path', { path: 7 }],
  ])('%s does not fit the schema', async (_what, given) => {
    const { isError, text } = await call('score_image', given);
    expect(isError).toBe(true);
    expect(text).toContain('score_image');
  });

  it('afterwards pictures are scored as before', async () => {
    const { structuredContent } = await call('score_image', { path: files[0] });
    expect(structuredContent).toMatchObject({ score: (await scorer.score(files[0])).score });
  });

  it('a picture beyond the limit of bytes is named so, by path and by data', async () => {
    const small = await connect('--model', model, '--set', 'maxBytes=100');
    const data = (await readFile(files[0])).toString('base64');
    const message = expect.stringContaining('has more than the 100 bytes allowed');
    for (const given of [{ path: files[0] }, { data }, { data: `data:image/png;base64,${data}` }]) {
      expect((await call('score_image', given, small)).error).toMatchObject({ code: 'INPUT', message });
    }
    await small.close();
  });
});

it('a model that writes no score is an answer with its status, never a number', async () => {
  const random = await connect('--model', fixture.random, '--set', 'maxNewTokens=6');
  const { isError, text, structuredContent } = await call('score_image', { path: files[0] }, random);
  expect(isError).toBeUndefined();
  expect(structuredContent).toMatchObject({ score: null, level: null });
  expect(text).toMatch(/^No score: the answer of the model /);
  await random.close();
});

it('writes nothing but the protocol to standard output, and ends with its client', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args('--model', model)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (output.includes('"id":2')) child.stdin.end();
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'score_image', arguments: { path: files[0] } } });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  const ids = output
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id);
  expect(ids).toEqual([1, 2]);
});

describe('what cannot be served ends with its code', () => {
  it('a root that is not there', async () => {
    const { code, stdout, stderr } = await runChild(
      MAIN,
      'mcp',
      '--model',
      model,
      '--root',
      '/nowhere/at/all',
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('error: the root /nowhere/at/all cannot be opened');
  });

  it('a model that is not there', async () => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', MAIN, ...args('--model', fixture.path('nothing'))],
      {
        stdio: ['pipe', 'ignore', 'pipe'],
      },
    );
    const [code] = await once(child, 'close');
    expect(code).toBe(5);
  });
});
