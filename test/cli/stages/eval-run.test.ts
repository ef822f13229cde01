import { createHash } from 'node:crypto';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelsOf } from '../../../src/cli/stages/eval-models.ts';
import { answer, startChatServer } from '../../remote/chat-server.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../../train/stage-fixture.ts';
import { MAIN, runChild, startChild } from '../run-child.ts';
import { readRows, spearman } from './prediction-rows.ts';

let fixture: StageFixture;
let model: string;
let suite: string;

beforeAll(async () => {
  fixture = await createStageFixture();
  model = await teachContract(fixture);
  // Without its list of training images: most of these tests measure what it was taught on, on purpose.
  await rm(join(model, 'training-images.json'));
  suite = fixture.path('suite.yaml');
  await writeFile(
    suite,
    JSON.stringify({
      ...{ name: 'small', title: 'A small suite', description: 'for a test', metrics: ['srcc', 'rmse'] },
      readings: [{ mode: 'greedy' }, { mode: 'sampled', samples: 2 }],
      entries: [
        { id: 'seen', title: 'Seen', dataset: 'small', split: 'train', role: 'in-domain' },
        { id: 'new', title: 'New', dataset: 'small', split: 'test', role: 'in-domain' },
      ],
      quoted: [{ model: 'Other', source: 'a paper', results: { new: { srcc: 0.5 } } }],
    }),
  );
});
afterAll(() => fixture.remove());

const run = (...args: string[]) => runChild(MAIN, 'eval', 'run', '--quiet', ...args);
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;

describe('a suite of several models', () => {
  it('writes every result and the table, and does nothing twice', async () => {
    const output = fixture.path('suite-out');
    const args = ['--suite', suite, '--data', fixture.data, '--model', model, '--model', fixture.random];
    const first = await run(...args, '--out', output, '--set', 'maxNewTokens=24');
    expect(first.code).toBe(0);
    const rows = await readRows(join(output, 'taught', 'seen-greedy', 'predictions.jsonl'));
    const expected = spearman(
      rows.map(({ score }) => score!),
      rows.map(({ mos }) => mos),
    );
    const table = await readFile(join(output, 'suite.md'), 'utf8');
    expect(table).toContain(`| taught, greedy | ${expected.toFixed(3)} |`);
    expect(table).toContain('| random, sampled-x2 | none |');
    expect(table).toMatch(/\| Other \(quoted\) \| - \| - \| 0\.500 \| - \|/);
    const before = await readFile(join(output, 'taught', 'new-sampled-x2', 'predictions.jsonl'));
    const second = await runChild(
      MAIN,
      ...['eval', 'run', ...args, '--out', output, '--set', 'maxNewTokens=24'],
    );
    expect(second.stdout).toBe(first.stdout);
    expect(second.stderr).toContain('24 of 24 answers were there already');
    expect(await readFile(join(output, 'taught', 'new-sampled-x2', 'predictions.jsonl'))).toEqual(before);
  });

  it('says of each figure what it rests on', async () => {
    const folder = join(fixture.path('suite-out'), 'taught', 'new-sampled-x2');
    const { provenance } = await readJson(join(folder, 'summary.json'));
    const ids = (await records(fixture.data)).filter(({ split }) => split === 'test').map(({ id }) => id);
    const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
    expect(provenance).toMatchObject({
      ...{ n: 6, direction: 'higher-better', scale: [1, 5], fit: 'logistic4', codeVersion: '0.1.0' },
      splitSha256: sha256(`${ids.sort().join('\n')}\n`),
      checkpointSha256: sha256(await readFile(join(model, 'model.safetensors'))),
      promptSha256: sha256(await readFile('prompts/student/quality.v1.md')),
      sampling: { mode: 'sampled', samples: 2, temperature: 1, topP: 1, seed: 0, maxNewTokens: 24 },
      leakage: { status: 'unknown', checked: 0, leaked: 0, allowed: false },
    });
  });

  it('other settings in the same folder are refused by name', async () => {
    const { code, stderr } = await run(
      ...['--suite', suite, '--data', fixture.data, '--model', model, '--model', fixture.random],
      ...['--out', fixture.path('suite-out'), '--set', 'maxNewTokens=25'],
    );
    expect(code).toBe(2);
    expect(stderr).toContain('reading.maxNewTokens: its rows are of 24, asked for is 25');
  });
});

it('killed and started again, it ends with the bytes of an undisturbed run', async () => {
  const args = ['eval', 'run', '--model', model, '--data', fixture.data, '--splits', 'train'];
  const how = ['--mode', 'sampled', '--set', 'batchSize=2', '--threads', '1'];
  const [straight, broken] = [fixture.path('straight'), fixture.path('broken')];
  const file = (folder: string) => join(folder, 'train-sampled', 'predictions.jsonl');
  expect((await runChild(MAIN, ...args, ...how, '--out', straight)).code).toBe(0);
  const child = startChild(MAIN, [...args, ...how, '--out', broken]);
  const lines = async () => (await readFile(file(broken), 'utf8').catch(() => '')).split('\n').length - 1;
  while ((await lines()) < 4) await sleep(5);
  child.process.kill('SIGKILL');
  expect((await child.ended).signal).toBe('SIGKILL');
  const kept = await lines();
  expect(kept).toBeLessThan(24);
  // As if the power had gone inside a write.
  await writeFile(file(broken), (await readFile(file(broken), 'utf8')).slice(0, -30));
  const again = await runChild(MAIN, ...args, ...how, '--out', broken);
  expect(again.code).toBe(0);
  expect(again.stderr).toContain(`${kept - 1} of 24 answers were there already`);
  expect(await readFile(file(broken))).toEqual(await readFile(file(straight)));
});

describe('leakage', () => {
  it('ends with 8 before anything is scored, unless it is allowed, which is recorded', async () => {
    const leaky = fixture.path('leaky');
    await cp(model, leaky, { recursive: true });
    const [first] = (await records(fixture.data)).filter(({ split }) => split === 'test');
    const bytes = await readFile(join(fixture.data, first!.image));
    const images = [createHash('sha256').update(bytes).digest('hex').slice(0, 16)];
    const stage = { stage: 'base', dataset: 'web', use: 'train', recordsSha256: '0'.repeat(64), images };
    await writeFile(
      join(leaky, 'training-images.json'),
      JSON.stringify({ format: 1, complete: true, stages: [stage] }),
    );
    const args = ['--model', leaky, '--data', fixture.data, '--out', fixture.path('leaky-out')];
    const refused = await run(...args);
    expect(refused).toMatchObject({ code: 8, stdout: '' });
    expect(refused.stderr).toContain(
      `leakage: leaky has seen 1 of the 6 images of test: 1 in the training images of base (web); for example ${first!.id}`,
    );
    const allowed = await run(...args, '--allow-leakage');
    expect(allowed.code).toBe(0);
    const { provenance } = await readJson(join(fixture.path('leaky-out'), 'test-greedy', 'summary.json'));
    expect(provenance).toMatchObject({
      leakage: { status: 'leak', checked: 6, leaked: 1, allowed: true },
    });
    await rm(leaky, { recursive: true });
  });

  it('a checkpoint without a list is measured, with a notice', async () => {
    const { code, stderr } = await runChild(MAIN, 'eval', 'run', '--model', model, '--data', fixture.data);
    expect(code).toBe(0);
    expect(stderr).toContain('taught against test cannot be checked, as it has no training-images.json');
  });
});

describe('a server', () => {
  it('is measured by its address; its own folder is named after the model', async () => {
    const server = await startChatServer(
      ...[1, 2, 3, 4, 5].map((score) =>
        answer({ texts: [`<think>fine.</think><answer>${score}.00</answer>`] }),
      ),
      answer({ texts: ['no idea'] }),
    );
    const output = fixture.path('served');
    const { code, stdout, stderr } = await runChild(
      MAIN,
      ...['eval', 'run', '--model', `${server.baseUrl}#org/served-7B`, '--data', fixture.data],
      ...['--out', output, '--set', 'server.concurrency=1'],
    );
    expect(code).toBe(0);
    expect(stdout).toContain('images                   6 (5 with a score)');
    expect(stderr).toContain('org-served-7B is a server; what it was trained on cannot be checked');
    expect(server.requests).toHaveLength(6);
    const { provenance } = await readJson(join(output, 'test-greedy', 'summary.json'));
    expect(provenance).toMatchObject({
      model: expect.stringContaining('org/served-7B at http://127.0.0.1:'),
      checkpointSha256: null,
      prompt: { id: 'teacher/quality' },
      sampling: { mode: 'greedy', maxNewTokens: 512 },
    });
  });

  it('without a model’s name, or read by probabilities, ends with 2', async () => {
    const nameless = await run('--model', 'http://127.0.0.1:9/v1', '--data', fixture.data);
    expect(nameless).toMatchObject({ code: 2 });
    expect(nameless.stderr).toContain('--set server.model=NAME');
    const levels = await run(
      ...['--model', 'http://127.0.0.1:9/v1#x', '--data', fixture.data, '--mode', 'levels'],
    );
    expect(levels).toMatchObject({ code: 2 });
    expect(levels.stderr).toContain('needs the probabilities');
  });
});

it('baselines need no model', async () => {
  const output = fixture.path('baselines');
  const { code, stdout } = await run('--baselines', '--data', fixture.data, '--out', output);
  expect(code).toBe(0);
  const train = (await records(fixture.data)).filter(({ split }) => split === 'train');
  const mean = train.reduce((sum, { mos }) => sum + mos!, 0) / train.length;
  const rows = await readRows(join(output, 'baselines', 'test-mean', 'predictions.jsonl'));
  for (const { score } of rows) expect(score).toBeCloseTo(mean, 12);
  expect(stdout).toMatch(/mean \(baseline\) +none +none +none +\d\.\d{3}/);
});

it('neither a model nor baselines ends with 2', async () => {
  const { code, stderr } = await run('--data', fixture.data);
  expect(code).toBe(2);
  expect(stderr).toContain('give --model <checkpoint folder or http address>, or --baselines');
});

describe('names of models', () => {
  it.each([
    [['runs/a/model'], ['a']],
    [
      ['runs/a/model', 'runs/b/model'],
      ['a', 'b'],
    ],
    [
      ['one/ci/model', 'two/ci/model'],
      ['one-ci', 'two-ci'],
    ],
    [['./model'], ['model']],
    [['http://host:8000/v1#Qwen/Qwen2.5-VL-72B'], ['Qwen-Qwen2.5-VL-72B']],
    [['http://host:8000/v1'], ['host-8000-v1']],
  ])('%j', (models, labels) => {
    expect(labelsOf(models)).toEqual(labels);
  });

  it('the same model twice is a ConfigError', () => {
    expect(() => labelsOf(['a/model', 'a/model'])).toThrow('two are the same');
  });
});
