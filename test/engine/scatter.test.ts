import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { spread, spreadInt } from './kernels/kernel-case.ts';

beforeAll(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterAll(stopEngine);

it('sums duplicates alike in 30 runs with two threads, as the sum in order does', async () => {
  const [rows, width, segments] = [1536, 192, 40];
  const updates = spread(-1, 1, [rows, width]).values;
  const ids = spreadInt(0, segments, [rows]).values;
  const expected = new Float32Array(segments * width);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < width; column++)
      expected[ids[row]! * width + column]! += updates[row * width + column]!;

  const x = tf.tensor([...updates], [rows, width]);
  const segmentIds = tf.tensor1d([...ids], 'int32');
  for (let run = 0; run < 30; run++) {
    const sums = tf.unsortedSegmentSum(x, segmentIds, segments);
    expect(Buffer.compare(Buffer.from(sums.dataSync().buffer), Buffer.from(expected.buffer))).toBe(0);
    sums.dispose();
  }
});
