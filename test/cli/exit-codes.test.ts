import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { describeError } from '../../src/cli/run-command.ts';
import {
  CheckpointError,
  ConfigError,
  EngineError,
  ERROR_CODES,
  GateError,
  InputError,
  InterruptedError,
  StorageError,
  TrainingError,
} from '../../src/core/index.ts';
import { FIXTURE, MAIN, runChild } from './run-child.ts';

describe('errors of a command', () => {
  it.each([
    [ConfigError, 2],
    [InputError, 3],
    [StorageError, 4],
    [CheckpointError, 5],
    [EngineError, 6],
    [TrainingError, 7],
    [GateError, 8],
    [InterruptedError, 130],
  ])('%o means a message, a remedy and exit code %i', (ErrorClass, exitCode) => {
    expect(describeError(new ErrorClass('the message', { hint: 'the remedy' }))).toEqual({
      lines: ['error: the message', 'hint: the remedy'],
      exitCode,
    });
  });

  it('a known error ends the process with its code, its message and no stack', async () => {
    expect(await runChild(FIXTURE, 'fail', 'gate')).toEqual({
      code: 8,
      signal: null,
      stdout: '',
      stderr: 'error: the message\nhint: the remedy\n',
    });
  });

  it('a system error that nobody wrapped is a storage error with what the system said', async () => {
    const child = await runChild(FIXTURE, 'fail', 'raw');
    expect(child.code).toBe(4);
    expect(child.stderr).toMatch(
      /ENOSPC: no space left on device, write '\/data\/x'\nhint: the disk is full/,
    );
  });

  it.each([
    ['defect', 'TypeError: x is not a function\n    at '],
    ['text', 'a thrown text\n'],
  ])('a thrown %s is an internal error that asks for a report', async (kind, found) => {
    const child = await runChild(FIXTURE, 'fail', kind);
    expect(child.code).toBe(1);
    expect(child.stderr).toContain(`internal error: ${found}`);
    expect(child.stderr).toContain('Please report it');
  });

  it('an error outside the command ends the process all the same', async () => {
    const child = await runChild(FIXTURE, 'fail', '--late', 'storage');
    expect(child).toMatchObject({ code: 4, stderr: 'error: the message\nhint: the remedy\n' });
  });
});

describe('a command line that cannot be carried out ends with 2', () => {
  it.each([
    ['an unknown command', ['versio'], "unknown command 'versio'"],
    ['an unknown command of a group', ['train', 'nothing'], "unknown command 'nothing'"],
    ['an unknown option', ['train', 'work', '--stepz', '3'], "unknown option '--stepz'"],
    ['a missing argument', ['fail'], "missing required argument 'kind'"],
    ['an argument too many', ['fail', 'config', 'more'], 'too many arguments'],
    ['an option without its value', ['train', 'work', '--config'], 'argument missing'],
    ['a bad number of threads', ['train', 'work', '--threads', '0'], 'allowed is a whole number from 1'],
    ['too many threads', ['train', 'work', '--threads', '100000'], `from 1 to ${4 * availableParallelism()}`],
    [
      'an unknown backend',
      ['train', 'work', '--backend', 'gpu'],
      'Allowed choices are onnx, tensorflow, cpu',
    ],
    ['no command of a group', ['train'], 'Usage: q-ponder train'],
    ['no command', [], 'Usage: q-ponder'],
  ])('%s', async (_what, args, message) => {
    const child = await runChild(FIXTURE, ...args);
    expect(child).toMatchObject({ code: 2, stdout: '' });
    expect(child.stderr).toContain(message);
    expect(child.stderr).not.toMatch(/\n {4}at /);
  });

  it('suggests the command that was meant', async () => {
    expect((await runChild(MAIN, 'versoin')).stderr).toContain('Did you mean version?');
  });
});

it('docs/exit-codes.md lists exactly the codes of the program', async () => {
  const text = await readFile(new URL('../../docs/exit-codes.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| (\d+) \| ([A-Z]+) \|/gm)].map(([, code, name]) => [name, Number(code)]);
  expect(Object.fromEntries(rows)).toEqual(ERROR_CODES);
});
