import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  correlateFiles,
  type EvaluationIdentity,
  readResults,
  shortNames,
} from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';
import { failureOf, type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

const rows = [1, 2, 3, 4].map((mos) => prediction(`i${mos}`, mos, mos));
const jsonl = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

const identity: EvaluationIdentity = {
  model: { kind: 'checkpoint', sha256: 'c0ffee' },
  prompt: { id: 'student/quality', version: 1, hash: 'beef' },
  reading: { mode: 'sampled', maxNewTokens: 96, temperature: 1, seed: 7 },
  data: { dataset: 'data/mine', split: 'test', n: 4, splitSha256: 'aa', dataSha256: 'bb' },
  codeVersion: '9.9.9',
};

async function folder(name: string, contents: Record<string, string>): Promise<string> {
  await mkdir(join(files.folder, name), { recursive: true });
  for (const [file, text] of Object.entries(contents)) await files.write(text, join(name, file));
  return join(files.folder, name);
}

describe('readResults', () => {
  it('reads a file, the folder around it, and a folder of such folders', async () => {
    await folder('run/test-greedy', { 'predictions.jsonl': jsonl(rows) });
    const run = await folder('run/cross-greedy', { 'predictions.jsonl': jsonl(rows.slice(1)) });
    const parts = async (path: string) =>
      (await readResults(path)).map(({ part, predictions }) => [part, predictions.length]);
    expect(await parts(join(run, 'predictions.jsonl'))).toEqual([['', 3]]);
    expect(await parts(run)).toEqual([['', 3]]);
    expect(await parts(join(files.folder, 'run'))).toEqual([
      ['cross-greedy', 3],
      ['test-greedy', 4],
    ]);
  });

  it('takes prompt, checkpoint and sampling from evaluation.json', async () => {
    const path = await folder('identified', {
      'predictions.jsonl': jsonl(rows),
      'evaluation.json': JSON.stringify(identity),
    });
    const [result] = await readResults(path);
    expect(result!.notices).toEqual([]);
    expect(result!.run).toMatchObject({
      ...{ split: 'test', splitHash: 'aa', dataHash: 'bb', promptHash: 'beef', checkpointHash: 'c0ffee' },
      ...{ sampling: 'sampled, maxNewTokens 96, temperature 1, seed 7', codeVersion: '9.9.9' },
    });
  });

  it('takes them from the summary.json of an older run', async () => {
    const provenance = {
      ...{ model: 'm', modelSha256: 'c0ffee', mode: 'greedy', dataset: 'd', split: 'test' },
      prompt: { id: 'p', version: 1, hash: 'beef' },
      config: { temperature: 1, seed: 0 },
    };
    const path = await folder('older', {
      'predictions.jsonl': jsonl(rows),
      'summary.json': JSON.stringify({ provenance, summary: { n: 4 } }),
    });
    expect((await readResults(path))[0]!.run).toMatchObject({
      ...{ promptHash: 'beef', checkpointHash: 'c0ffee', sampling: 'greedy', model: 'm', codeVersion: null },
    });
  });

  it('says when the record is absent, cut, or of another number of images', async () => {
    const noticesOf = async (name: string, contents: Record<string, string>) =>
      (await readResults(await folder(name, { 'predictions.jsonl': jsonl(rows), ...contents })))[0]!.notices;
    expect(await noticesOf('bare', {})).toEqual([
      expect.stringContaining('neither evaluation.json nor summary.json says how it was made') as string,
    ]);
    expect((await noticesOf('torn', { 'evaluation.json': '{"model":' }))[0]).toContain(
      'is not JSON and was not used',
    );
    const more = { ...identity, data: { ...identity.data, n: 9 } };
    expect(await noticesOf('short', { 'evaluation.json': JSON.stringify(more) })).toEqual([
      expect.stringMatching(/evaluation\.json tells of 9 images, .* has 4 rows/) as string,
    ]);
  });

  it('says that the model has seen images of the split', async () => {
    const provenance = { model: 'm', leakage: { status: 'leaked', checked: 4, leaked: 2 } };
    const path = await folder('leaking', {
      'predictions.jsonl': jsonl(rows),
      'summary.json': JSON.stringify({ provenance, summary: { n: 4 } }),
    });
    expect((await readResults(path))[0]!.notices).toEqual([
      expect.stringContaining('2 of 4 images were in the training data of the model') as string,
    ]);
  });

  it('refuses folders without predictions, empty files, repeated images and broken rows', async () => {
    const refusal = async (name: string, text: string | null) =>
      failureOf(readResults(await folder(name, text === null ? {} : { 'predictions.jsonl': text })));
    expect(await refusal('nothing', null)).toContain('INPUT: ');
    expect(await refusal('nothing', null)).toContain('holds no predictions.jsonl, nor does any folder in it');
    expect(await refusal('empty', '')).toContain('is empty');
    expect(await refusal('repeated', jsonl([rows[0], rows[0]]))).toMatch(
      /predictions\.jsonl: 1 image id\(s\) occur more than once in one set of predictions: i1/,
    );
    expect(await refusal('broken', `${jsonl(rows)}{"id":`)).toContain('predictions.jsonl:5 is not JSON');
    expect(await failureOf(readResults(join(files.folder, 'absent')))).toMatch(/^STORAGE: /);
  });
});

describe('correlateFiles on our own predictions', () => {
  it('carries the protocol of the run', async () => {
    const path = await folder('correlated', {
      'predictions.jsonl': jsonl(rows),
      'evaluation.json': JSON.stringify(identity),
    });
    const report = await correlateFiles({
      ...{ files: [join(path, 'predictions.jsonl')], predictions: ['score'], target: 'mos' },
      ...{ resamples: 0, fit: 'none' },
    });
    expect(report.runs).toMatchObject([{ promptHash: 'beef', checkpointHash: 'c0ffee', splitHash: 'aa' }]);
    // SHA-256 of "i1\ni2\ni3\ni4\n".
    expect(report.imagesSha256).toBe('45ad349f190240cec3995cf5cbf59652fb66cc9773be20b5cc5c7eede6493cb8');
  });
});

describe('shortNames', () => {
  it('takes the last part of each path, or all of it where those are equal', () => {
    expect(shortNames(['results/ci/', 'results/grpo'])).toEqual(['ci', 'grpo']);
    expect(shortNames(['a/test', 'b/test'])).toEqual(['a/test', 'b/test']);
  });
});
