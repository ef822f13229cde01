import { beforeAll, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import type { ImageGroup, ProcessedImage } from '../../src/model/index.ts';
import { createScoreHead, scoreHeadLoss } from '../../src/train/score-head.ts';

beforeAll(() => tf.setBackend('cpu'));

const picture = (): ProcessedImage => ({ patches: new Float32Array(0), grid: { h: 2, w: 2 } });

it('the loss is the weighted sum of squared errors of a linear map of each image’s mean token', async () => {
  const [first, second, third] = [picture(), picture(), picture()] as const;
  // Two groups: the first with two images of two tokens each, the second with one image of one token.
  const groups = [
    { count: 2, plan: { tokens: 2 }, images: [first, second] },
    { count: 1, plan: { tokens: 1 }, images: [third] },
  ] as unknown as ImageGroup[];
  const embeddings = tf.tensor2d([1, 0, 3, 2, 0, 4, 0, 0, 5, 5], [5, 2]);
  const head = new Map<string, tf.Variable>([
    ['head.score.weight', tf.variable(tf.tensor2d([0.5, -1], [1, 2]))],
    ['head.score.bias', tf.variable(tf.tensor1d([3]))],
  ]);
  const scores = new Map([
    [third, 1],
    [first, 4],
    [second, 2],
  ]);
  const loss = scoreHeadLoss(head, embeddings, groups, scores, 0.25);
  // Means (2, 1), (0, 2), (5, 5): told 3 + 1 - 1 = 3, 3 - 2 = 1, 3 + 2.5 - 5 = 0.5; errors -1, -1, -0.5.
  expect((await loss.data())[0]).toBeCloseTo(0.25 * (1 + 1 + 0.25), 6);
});

it('a new head tells the middle of the scale for a picture without features', () => {
  const head = createScoreHead(8, new Rng(0));
  const image = picture();
  const groups = [{ count: 1, plan: { tokens: 1 }, images: [image] }] as unknown as ImageGroup[];
  const loss = scoreHeadLoss(head, tf.zeros([1, 8]), groups, new Map([[image, 5]]), 1);
  expect(loss.dataSync()[0]).toBeCloseTo(4, 6);
});
