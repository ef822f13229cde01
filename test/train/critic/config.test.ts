import { expect, it } from 'vitest';
import { grpoConfigSchema } from '../../../src/train/index.ts';

const parse = (changes: Record<string, unknown>) =>
  grpoConfigSchema.safeParse({ run: 'r', model: 'm', dataset: 'd', advantage: { kind: 'gae' }, ...changes });

it('GAE is taken, with older groups and with answers over several steps too', () => {
  expect(parse({}).success).toBe(true);
  expect(parse({ replay: { kind: 'buffer' } }).success).toBe(true);
  expect(parse({ partialRollouts: { tokensPerStep: 20 } }).success).toBe(true);
});

it.each([
  ['coefficient', 0],
  ['clipRange', 0],
  ['learningRateFactor', 0],
  ['lambda', 1],
])('critic.%s is not %s', (key, value) => {
  const { success, error } = parse({ critic: { [key]: value } });
  expect(success).toBe(false);
  expect(error!.issues[0]!.path[0]).toBe('critic');
});
