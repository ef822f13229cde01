import { expect, it } from 'vitest';
import { ConfigError } from '../../src/core/index.ts';
import { groupById, groupByPrompt, requireGroupSize } from '../../src/rl/index.ts';

it('collects positions by id in order of first appearance', () => {
  expect([...groupById(['b', 'a', 'b', 'c', 'a'])]).toEqual([
    ['b', [0, 2]],
    ['a', [1, 4]],
    ['c', [3]],
  ]);
});

it('collects items by prompt id', () => {
  const samples = [
    { prompt: 'x', n: 1 },
    { prompt: 'y', n: 2 },
    { prompt: 'x', n: 3 },
  ];
  const groups = groupByPrompt(samples, ({ prompt }) => prompt);
  expect(groups.get('x')?.map(({ n }) => n)).toEqual([1, 3]);
});

it('has no groups for no samples', () => {
  expect(groupById([]).size).toBe(0);
});

it('refuses a configured group of one', () => {
  expect(() => requireGroupSize(1)).toThrow(ConfigError);
});
