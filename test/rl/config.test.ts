import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  algorithmSettings,
  bapoConfigSchema,
  dpoConfigSchema,
  policyLossConfigSchema,
} from '../../src/rl/index.ts';

const algorithmConfigSchema = z.strictObject(algorithmSettings({ klCoefficient: 0 }));

describe('algorithmSettings', () => {
  it('is GRPO with the clip of PPO where nothing is said', () => {
    const config = algorithmConfigSchema.parse({});
    expect(config.advantage).toEqual({ kind: 'grpo', scale: 'group', epsilon: 1e-4 });
    expect(config.policyLoss).toEqual({ kind: 'clip', epsilonLow: 0.2, epsilonHigh: 0.2, dualClip: null });
    expect(config.aggregation).toEqual({ kind: 'token-mean' });
    expect(config.importance).toEqual({ old: 'trainer', correction: { kind: 'none' }, offPolicyKl: null });
  });

  it('refuses a setting of another algorithm', () => {
    expect(() => algorithmConfigSchema.parse({ policyLoss: { kind: 'sapo', epsilonLow: 0.2 } })).toThrow(
      'epsilonLow',
    );
    expect(() => algorithmConfigSchema.parse({ advantage: { kind: 'rloo', lambda: 1 } })).toThrow('lambda');
  });

  it('refuses an unknown algorithm', () => {
    expect(() => algorithmConfigSchema.parse({ policyLoss: { kind: 'ppo' } })).toThrow(
      /is \\"ppo\\", allowed are .*\\"gspo-token\\".*\\"bapo\\"/,
    );
  });

  it.each([
    [
      'policyLoss',
      { policyLoss: 'bapo' },
      'is "bapo", allowed are settings by name, as in policyLoss.kind=...',
    ],
    [
      'kl.coefficient',
      { kl: { coefficient: 0.02 } },
      'is 0.02, allowed are settings by name, as in kl.coefficient.kind=...: one of "fixed", "adaptive"',
    ],
  ])('says how to write %s, where a bare value stands', (key, config, message) => {
    const { error } = algorithmConfigSchema.safeParse(config);
    expect(error!.issues).toHaveLength(1);
    expect(error!.issues[0]!.path.join('.')).toBe(key);
    expect(error!.issues[0]!.message).toContain(message);
  });

  it.each([
    [{ policyLoss: { kind: 'cispo', ratioLow: 6 } }, 'ratioLow'],
    [{ policyLoss: { kind: 'clip-cov', covarianceHigh: 1 } }, 'covarianceLow'],
    [{ importance: { correction: { kind: 'mask', low: 5 } } }, 'low must be below high'],
    [{ entropy: { bonus: { kind: 'adaptive', start: 2 } } }, 'start must lie'],
  ])('refuses bounds in the wrong order: %j', (config, message) => {
    expect(() => algorithmConfigSchema.parse(config)).toThrow(message);
  });

  it('takes settings without a kind for those of the default one', () => {
    const config = algorithmConfigSchema.parse({
      advantage: { scale: 'none' },
      policyLoss: { epsilonHigh: 0.28 },
      kl: { coefficient: { value: 0.01 } },
    });
    expect(config.advantage).toMatchObject({ kind: 'grpo', scale: 'none' });
    expect(config.policyLoss).toMatchObject({ kind: 'clip', epsilonLow: 0.2, epsilonHigh: 0.28 });
    expect(config.kl.coefficient).toEqual({ kind: 'fixed', value: 0.01 });
    expect(() => algorithmConfigSchema.parse({ policyLoss: { lowStart: 0.6 } })).toThrow('lowStart');
  });

  it('keeps the KL coefficient of the stage where another key of KL is set', () => {
    const schema = z.strictObject(algorithmSettings({ klCoefficient: 0.04 }));
    expect(schema.parse({ kl: { estimator: 'k1' } }).kl.coefficient).toEqual({ kind: 'fixed', value: 0.04 });
  });
});

describe('policyLossConfigSchema', () => {
  it('has the published BAPO settings', () => {
    expect(policyLossConfigSchema.parse({ kind: 'bapo' })).toMatchObject({
      lowStart: 0.6,
      lowLimit: 0.9,
      lowStep: 0.02,
      highStart: 1.2,
      highLimit: 3,
      highStep: 0.05,
      target: { kind: 'share', value: 0.4 },
      order: 'high-first',
    });
  });

  it('refuses a BAPO limit below its start, in either bound', () => {
    expect(() => bapoConfigSchema.parse({ kind: 'bapo', lowStart: 0.95 })).toThrow('lowStart');
    expect(() => policyLossConfigSchema.parse({ kind: 'bapo', highLimit: 1.1 })).toThrow('highStart');
  });

  it('refuses a lower clip of 1 and a dual clip of 1', () => {
    expect(() => policyLossConfigSchema.parse({ kind: 'clip', epsilonLow: 1 })).toThrow();
    expect(() => policyLossConfigSchema.parse({ kind: 'clip', dualClip: 1 })).toThrow();
  });
});

describe('dpoConfigSchema', () => {
  it('refuses a smoothing that reverses the labels', () => {
    expect(() => dpoConfigSchema.parse({ labelSmoothing: 0.5 })).toThrow();
  });
});
