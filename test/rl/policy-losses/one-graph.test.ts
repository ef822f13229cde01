import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changingScalars,
  engineStats,
  runPending,
  startEngine,
  stopEngine,
  tf,
} from '../../../src/engine/index.ts';
import { type PolicyLossOptions, policyLoss } from '../../../src/rl/index.ts';

describe('on the backend onnx', () => {
  beforeAll(async () => {
    await startEngine({ backend: 'onnx', threads: 1 });
  });
  afterAll(stopEngine);

  /** The loss at ratio 1.5 with advantage 1 and k1 = 1. */
  async function lossWith(options: () => PolicyLossOptions): Promise<number> {
    const { value, grad } = tf.valueAndGrad(
      (x: tf.Tensor) =>
        policyLoss(
          {
            logProbabilities: x as tf.Tensor1D,
            oldLogProbabilities: tf.tensor1d([-1 - Math.log(1.5)]),
            referenceLogProbabilities: tf.tensor1d([-2]),
            advantages: tf.tensor1d([1]),
            weights: tf.tensor1d([1]),
            denominator: 1,
            totalTokens: 1,
          },
          options(),
        ).loss,
    )(tf.tensor1d([-1]));
    await runPending();
    const loss = (await value.data())[0] as number;
    tf.dispose([value, grad]);
    return loss;
  }

  it('new bounds and a new KL coefficient run in the same graph', async () => {
    const moving = (high: number, beta: number) => () => ({
      surrogate: { kind: 'moving-clip', low: 0.6, high, dualClip: null } as const,
      klEstimator: 'k1' as const,
      klCoefficient: changingScalars({ beta }).beta,
    });
    expect(await lossWith(moving(1.2, 0.5))).toBeCloseTo(-1.2 + 0.5, 6);
    const before = engineStats().compiles;
    expect(before).toBeGreaterThan(0);
    expect(await lossWith(moving(1.35, 0.25))).toBeCloseTo(-1.35 + 0.25, 6);
    expect(await lossWith(moving(3, 0.125))).toBeCloseTo(-1.5 + 0.125, 6);
    expect(engineStats().compiles).toBe(before);
  });
});
