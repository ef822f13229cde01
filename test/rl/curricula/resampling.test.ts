import { describe, expect, it } from 'vitest';
import type { RewardValue } from '../../../src/core/index.ts';
import { decideResampling, groupVerdict, resamplingConfigSchema } from '../../../src/rl/index.ts';

const ok = (...values: number[]): RewardValue[] => values.map((value) => ({ status: 'ok', value }));
const missing: RewardValue = { status: 'missing', reason: 'timeout' };
const mixed = (id: string) => ({ id, rewards: ok(0, 1) });
const equal = (id: string) => ({ id, rewards: ok(0.3, 0.3) });
const dynamic = (settings: object = {}) => resamplingConfigSchema.parse({ kind: 'dynamic', ...settings });

describe('groupVerdict', () => {
  it('asks for difference exactly', () => {
    expect(groupVerdict(ok(0.1, 0.1, 0.1))).toBe('zero-variance');
    expect(groupVerdict(ok(0.1, 0.1, 0.1 + 2 ** -53))).toBe('informative');
  });

  it('needs two usable rewards', () => {
    expect(groupVerdict([...ok(1), missing])).toBe('unusable');
    expect(groupVerdict(ok(1, Number.NaN))).toBe('unusable');
    expect(groupVerdict([])).toBe('unusable');
    expect(groupVerdict([...ok(1, 0), missing])).toBe('informative');
  });
});

describe('decideResampling', () => {
  it('says how many prompts the first round has', () => {
    const start = { wanted: 4, rounds: 0, groups: [] };
    expect(decideResampling(dynamic(), start).draw).toBe(4);
    expect(decideResampling(dynamic({ oversample: 3 }), start).draw).toBe(12);
    expect(decideResampling(resamplingConfigSchema.parse({ kind: 'off' }), start).draw).toBe(4);
  });

  it('keeps the groups that differ and asks for a further batch', () => {
    const groups = [equal('a'), mixed('b'), { id: 'c', rewards: [missing] }, mixed('d')];
    expect(decideResampling(dynamic(), { wanted: 4, rounds: 1, groups })).toEqual({
      kept: ['b', 'd'],
      draw: 4,
      exhausted: false,
      counts: { rounds: 1, sampled: 4, kept: 2, zeroVariance: 1, unusable: 1, surplus: 0, missing: 2 },
    });
  });

  it('asks for the missing ones alone where told to', () => {
    const groups = [equal('a'), mixed('b'), equal('c'), mixed('d')];
    const state = { wanted: 4, rounds: 1, groups };
    expect(decideResampling(dynamic({ draw: 'missing' }), state).draw).toBe(2);
    // 2 * 1.2 = 2.4
    expect(decideResampling(dynamic({ draw: 'missing', oversample: 1.2 }), state).draw).toBe(3);
  });

  it('is done with a full batch, the first groups of it', () => {
    const groups = [mixed('a'), equal('b'), mixed('c'), mixed('d')];
    const decision = decideResampling(dynamic(), { wanted: 2, rounds: 2, groups });
    expect(decision.kept).toEqual(['a', 'c']);
    expect(decision).toMatchObject({ draw: 0, exhausted: false, counts: { surplus: 1, missing: 0 } });
  });

  it('trains on what is there when the rounds are used up', () => {
    const groups = [mixed('a'), equal('b'), equal('c')];
    const decision = decideResampling(dynamic({ maxRounds: 3 }), { wanted: 2, rounds: 3, groups });
    expect(decision).toMatchObject({ kept: ['a'], draw: 0, exhausted: true, counts: { missing: 1 } });
  });

  it('keeps nothing when all groups have equal rewards to the end', () => {
    const groups = [equal('a'), equal('b')];
    const decision = decideResampling(dynamic({ maxRounds: 1 }), { wanted: 2, rounds: 1, groups });
    expect(decision).toMatchObject({ kept: [], draw: 0, exhausted: true, counts: { zeroVariance: 2 } });
  });

  it('ends for every sequence of rounds', () => {
    let rounds = 0;
    const groups: ReturnType<typeof equal>[] = [];
    for (;;) {
      const { draw } = decideResampling(dynamic(), { wanted: 3, rounds, groups });
      if (draw === 0) break;
      for (let i = 0; i < draw; i++) groups.push(equal(`${rounds}.${i}`));
      rounds++;
    }
    expect({ rounds, sampled: groups.length }).toEqual({ rounds: 10, sampled: 30 });
  });

  it('keeps all groups and never samples again when off', () => {
    const off = resamplingConfigSchema.parse({ kind: 'off' });
    const decision = decideResampling(off, { wanted: 2, rounds: 1, groups: [equal('a'), mixed('b')] });
    expect(decision).toMatchObject({ kept: ['a', 'b'], draw: 0, exhausted: false });
  });

  it('refuses a prompt that was sampled twice', () => {
    const groups = [mixed('a'), mixed('a')];
    expect(() => decideResampling(dynamic(), { wanted: 2, rounds: 1, groups })).toThrow('sampled twice');
  });
});
