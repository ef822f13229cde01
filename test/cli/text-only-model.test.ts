/** Commands that show pictures say in one sentence that a language model alone cannot see them. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/index.ts';
import { startEngine, stopEngine } from '../../src/engine/index.ts';
import { createModel, initialValues, loadAnyModelFormat, saveModel } from '../../src/model/index.ts';
import { randomImage } from '../model/tiny.ts';
import { tinyTextFolder } from '../model/tiny-folder.ts';
import { MAIN, runChild } from './run-child.ts';

let folder: string;

beforeAll(async () => {
  folder = await tinyTextFolder();
  const format = await loadAnyModelFormat(folder);
  await startEngine({ backend: 'cpu' });
  await saveModel(createModel(format, initialValues(format.config, new Rng(1))), folder);
  await stopEngine();
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'picture.png'), await encodePng(randomImage(32, 32, 1)));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a text-only model', () => {
  it.each([
    ['score', (model: string) => ['score', '--model', model, join(model, 'picture.png')]],
    [
      'train cold-start',
      (model: string) => [
        ...['train', 'cold-start', '--model', model, '--run', join(model, 'run')],
        ...['--data', join(model, 'data'), '--rows', join(model, 'data', 'rows.jsonl')],
      ],
    ],
    [
      'train grpo',
      (model: string) => [
        ...['train', 'grpo', '--model', model, '--run', join(model, 'run'), '--data', join(model, 'data')],
      ],
    ],
  ])('%s', async (_command, args) => {
    const { code, stdout, stderr } = await runChild(MAIN, ...args(folder), '--quiet');
    expect({ code, stdout, error: stderr.split('\n').find((line) => line.startsWith('error: ')) }).toEqual({
      code: 5,
      stdout: '',
      error: `error: ${folder} holds a language model ("qwen2") without a vision tower: a model that sees pictures was expected`,
    });
  });
});
