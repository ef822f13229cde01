import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ConfigError,
  mergeConfig,
  parseSetting,
  readConfigFile,
  resolveConfig,
} from '../../src/core/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('mergeConfig', () => {
  it('merges objects key by key and replaces everything else', () => {
    const base = { a: 1, list: [1, 2, 3], deep: { x: 1, y: { z: 2 } }, kept: true };
    const over = { a: null, list: [9], deep: { y: { w: 3 } } };
    expect(mergeConfig(base, over)).toEqual({
      a: null,
      list: [9],
      deep: { x: 1, y: { z: 2, w: 3 } },
      kept: true,
    });
    expect(base.deep).toEqual({ x: 1, y: { z: 2 } });
  });

  it('an object replaces a number and a number an object', () => {
    expect(mergeConfig({ a: 1, b: { c: 1 } }, { a: { c: 1 }, b: 1 })).toEqual({ a: { c: 1 }, b: 1 });
  });
});

describe('parseSetting', () => {
  it.each([
    ['a.b.c=1e-4', { a: { b: { c: 1e-4 } } }],
    ['flag=true', { flag: true }],
    ['list=[1, two]', { list: [1, 'two'] }],
    ['none=null', { none: null }],
    ['text=a=b', { text: 'a=b' }],
    ['empty=', { empty: null }],
  ])('%s', (setting, value) => {
    expect(parseSetting(setting)).toEqual(value);
  });

  it.each(['no-equals-sign', '=1', 'a..b=1', '.a=1', 'a.=1', '__proto__.x=1', 'a.__proto__.x=1'])(
    'refuses %s',
    (setting) => {
      expect(() => parseSetting(setting)).toThrow(ConfigError);
    },
  );
});

describe('readConfigFile', () => {
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };

  it('reads YAML and JSON', async () => {
    expect(await readConfigFile(await write('a.yaml', 'a: 1\nb: {c: [x, y]}\n'))).toEqual({
      a: 1,
      b: { c: ['x', 'y'] },
    });
    expect(await readConfigFile(await write('a.json', '{"a": 1}'))).toEqual({ a: 1 });
  });

  it('takes an empty file as no settings', async () => {
    expect(await readConfigFile(await write('empty.yaml', ''))).toEqual({});
  });

  it('refuses text that is not YAML, naming the file', async () => {
    const path = await write('broken.yaml', 'a: [1, 2\nb: 3');
    await expect(readConfigFile(path)).rejects.toThrow(`${path} is not valid YAML`);
  });

  it('refuses a list', async () => {
    await expect(readConfigFile(await write('list.yaml', '- a\n'))).rejects.toThrow('must hold one mapping');
  });

  it('reports a missing file as a storage error', async () => {
    await expect(readConfigFile(join(folder, 'none.yaml'))).rejects.toMatchObject({ code: 'STORAGE' });
  });
});

describe('resolveConfig', () => {
  const schema = z.strictObject({
    steps: z.int().positive().default(100),
    optimizer: z
      .strictObject({ learningRate: z.number().default(1e-3), clip: z.number().default(1) })
      .prefault({}),
  });

  it('gives the defaults when nothing is set', () => {
    expect(resolveConfig(schema, [], 'test')).toEqual({
      steps: 100,
      optimizer: { learningRate: 1e-3, clip: 1 },
    });
  });

  it('lets later layers win, key by key', () => {
    const layers = [
      { steps: 5, optimizer: { learningRate: 2 } },
      { optimizer: { clip: 9 } },
      { optimizer: { learningRate: 3 } },
    ];
    expect(resolveConfig(schema, layers, 'test')).toEqual({
      steps: 5,
      optimizer: { learningRate: 3, clip: 9 },
    });
  });

  it('reports all problems at once, unknown keys among them', () => {
    const layers = [{ steps: -1, stepz: 3, optimizer: { learningRate: 'fast', momentum: 0.9 } }];
    let message = '';
    try {
      resolveConfig(schema, layers, 'grpo.yaml');
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      message = (error as Error).message;
    }
    expect(message).toMatch(/^grpo\.yaml has 4 problem\(s\):/);
    for (const part of ['steps:', 'stepz', 'optimizer.learningRate:', 'momentum'])
      expect(message).toContain(part);
  });
});
