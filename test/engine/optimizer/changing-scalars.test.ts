import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { changingScalars, startEngine, stopEngine, tf } from '../../../src/engine/index.ts';

beforeAll(async () => {
  await startEngine({ backend: 'cpu' });
});
afterAll(stopEngine);

it('gives every value under its name, as rank 0', () => {
  tf.tidy(() => {
    const { rate, decay, zero } = changingScalars({ rate: 0.25, decay: -3, zero: 0 });
    expect([rate, decay, zero].map((t) => t.arraySync())).toEqual([0.25, -3, 0]);
  });
});

it.each([0, 1, 0.5])('never uploads a uniform tensor, not even when every value is %d', (value) => {
  const write = vi.spyOn(tf.backend(), 'write');
  tf.tidy(() => changingScalars({ a: value, b: value }));
  // The first write is the upload; the others are results of this backend's kernels.
  const [uploaded] = write.mock.calls[0]!;
  write.mockRestore();
  expect(new Set(uploaded as Float32Array).size).toBe(2);
});
