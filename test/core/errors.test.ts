import { describe, expect, it } from 'vitest';
import {
  asStorageError,
  CheckpointError,
  ConfigError,
  EngineError,
  GateError,
  InputError,
  InterruptedError,
  QPonderError,
  StorageError,
  TrainingError,
} from '../../src/core/index.ts';

describe('error classes', () => {
  it.each([
    [ConfigError, 'CONFIG', 2],
    [InputError, 'INPUT', 3],
    [StorageError, 'STORAGE', 4],
    [CheckpointError, 'CHECKPOINT', 5],
    [EngineError, 'ENGINE', 6],
    [TrainingError, 'TRAINING', 7],
    [GateError, 'GATE', 8],
    [InterruptedError, 'INTERRUPTED', 130],
  ] as const)('%o has code %s and exit code %i', (ErrorClass, code, exitCode) => {
    const error = new ErrorClass('what happened', { hint: 'what to do' });
    expect(error).toBeInstanceOf(QPonderError);
    expect([error.name, error.code, error.exitCode]).toEqual([ErrorClass.name, code, exitCode]);
    expect([error.message, error.hint]).toEqual(['what happened', 'what to do']);
  });

  it('keep their cause, and have none when none was given', () => {
    const cause = new Error('below');
    expect(new InputError('above', { cause }).cause).toBe(cause);
    expect('cause' in new InputError('above')).toBe(false);
  });
});

describe('asStorageError', () => {
  const nodeError = (code: string) => Object.assign(new Error(`${code}: text of the system`), { code });

  it('names the action, the code and a remedy', () => {
    const error = asStorageError(nodeError('ENOSPC'), 'writing weights.bin') as StorageError;
    expect(error).toBeInstanceOf(StorageError);
    expect(error.message).toBe('writing weights.bin failed (ENOSPC)');
    expect(error.hint).toMatch(/disk is full/);
  });

  it('gives a remedy for codes it has no sentence for', () => {
    expect((asStorageError(nodeError('EIO'), 'reading') as StorageError).hint).toBeTruthy();
  });

  it.each([
    ['an error of ours', new InputError('bad row')],
    ['a defect', new TypeError('x is not a function')],
    ["Node's own non-system codes", Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })],
    ['a thrown string', 'text'],
    ['undefined', undefined],
  ])('passes %s through', (_what, value) => {
    expect(asStorageError(value, 'writing')).toBe(value);
  });
});
