import { describe, expect, it } from 'vitest';
import { addRewards } from '../../../src/env/index.ts';
import { group, openTerms, rewardFile } from './scoring.ts';

const ok = (value: number) => ({ status: 'ok', value }) as const;

async function twoTerms(weights: [object | number, object | number]) {
  const length = await rewardFile('export default (samples) => samples.map((s) => s.completion.length);');
  const picky = await rewardFile(
    `export default { batchSize: 1, score([s]) { if (s.completion === 'bad') throw new Error('no'); return [10 * s.group + s.index]; } };`,
  );
  const common = { kind: 'file', range: [0, 100] } as const;
  return openTerms([
    { ...common, name: 'length', weight: weights[0], path: length },
    { ...common, name: 'picky', weight: weights[1], path: picky },
  ] as Parameters<typeof openTerms>[0]);
}

describe('reward terms', () => {
  it('add up by their weights, each group with its own', async () => {
    const terms = await twoTerms([0.5, 2]);
    const { groups } = await terms.score(0, [group('ab', 'abcd'), group(), group('a')]);
    expect(groups).toEqual([
      [
        { terms: { length: ok(2), picky: ok(0) }, total: ok(1) },
        { terms: { length: ok(4), picky: ok(1) }, total: ok(4) },
      ],
      [],
      [{ terms: { length: ok(1), picky: ok(20) }, total: ok(40.5) }],
    ]);
  });

  it('have no total where a term with a weight is missing', async () => {
    const terms = await twoTerms([1, 0.1]);
    const { groups, metrics } = await terms.score(0, [group('bad', 'good')]);
    const missing = { status: 'missing', reason: 'picky: Error: no' };
    expect(groups[0]).toEqual([
      { terms: { length: ok(3), picky: missing }, total: missing },
      { terms: { length: ok(4), picky: ok(1) }, total: { status: 'ok', value: expect.closeTo(4.1, 12) } },
    ]);
    expect(metrics).toMatchObject({
      'reward/length/mean': 3.5,
      'reward/length/std': 0.5,
      'reward/length/missing': 0,
      'reward/picky/mean': 1,
      'reward/picky/missing': 1,
      'reward/picky/errors': 1,
      'reward/picky/weight': 0.1,
    });
  });

  it('without a weight are logged, and their failures cost nothing', async () => {
    const terms = await twoTerms([1, 0]);
    const { groups, metrics } = await terms.score(0, [group('bad')]);
    expect(groups[0]?.[0]).toMatchObject({ terms: { picky: { status: 'missing' } }, total: ok(3) });
    expect(metrics['reward/picky/missing']).toBe(1);
    expect(metrics['reward/picky/mean']).toBeUndefined();
  });

  it('follow their schedules: 4 letters at half of the way from 1 to 0', async () => {
    const terms = await twoTerms([{ kind: 'linear', from: 1, to: 0, steps: 10 }, 0]);
    expect(terms.weightsAt(5)).toEqual({ length: 0.5, picky: 0 });
    const { groups, weights } = await terms.score(5, [group('abcd')]);
    expect(groups[0]?.[0]?.total).toEqual(ok(2));
    expect(weights).toEqual({ length: 0.5, picky: 0 });
  });

  it('are nothing and cost nothing when there are none', async () => {
    const terms = await openTerms([]);
    expect(await terms.score(0, [group('a')])).toEqual({
      groups: [[{ terms: {}, total: ok(0) }]],
      weights: {},
      metrics: {},
    });
  });

  it('are missing once they are closed', async () => {
    const terms = await twoTerms([1, 1]);
    await terms.close();
    const { groups } = await terms.score(0, [group('a')]);
    expect(groups[0]?.[0]?.total).toEqual({
      status: 'missing',
      reason: 'length: the reward terms are closed; picky: the reward terms are closed',
    });
  });
});

describe('addRewards', () => {
  const missing = (reason: string) => ({ status: 'missing', reason }) as const;

  it.each([
    [ok(1), ok(0.5), ok(1.5)],
    [ok(1), missing('b'), missing('b')],
    [missing('a'), ok(1), missing('a')],
    [missing('a'), missing('b'), missing('a; b')],
  ])('%o + %o', (a, b, sum) => {
    expect(addRewards(a, b)).toEqual(sum);
  });
});
