import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import {
  policyLoss,
  policyLossConfigSchema,
  type ResolvedPolicyLoss,
  tokenWeights,
} from '../../../src/rl/index.ts';

interface Case {
  current: number[];
  old: number[];
  advantages: number[];
  lengths?: number[];
  selected?: number[];
  /** Sequence mean instead of the plain sum over tokens. */
  sequenceMean?: boolean;
}

/** Sum of the token losses (or of the sequence means), its gradient, and the clipped shares. */
function evaluate(surrogate: ResolvedPolicyLoss, numbers: Case) {
  const { current, old, advantages, lengths = [current.length], selected, sequenceMean = false } = numbers;
  return tf.tidy(() => {
    let clipped = { low: 0, high: 0 };
    const { value, grad } = tf.valueAndGrad((x: tf.Tensor) => {
      const { loss, metrics } = policyLoss(
        {
          logProbabilities: x as tf.Tensor1D,
          oldLogProbabilities: tf.tensor1d(old),
          referenceLogProbabilities: null,
          advantages: tf.tensor1d(advantages),
          weights: tf.tensor1d(
            tokenWeights(sequenceMean ? 'sequence-mean' : 'token-mean', lengths, current.length),
          ),
          denominator: 1,
          totalTokens: 1,
          tokensPerSequence: lengths,
          selected: selected === undefined ? null : tf.tensor1d(selected),
        },
        { surrogate },
      );
      clipped = {
        low: metrics.clipRatioLow.dataSync()[0] as number,
        high: metrics.clipRatioHigh.dataSync()[0] as number,
      };
      return loss;
    })(tf.tensor1d(current));
    return { loss: value.dataSync()[0] as number, gradient: [...grad.dataSync()], clipped };
  });
}

const log = (...values: number[]) => values.map(Math.log);
const parse = (loss: unknown) => policyLossConfigSchema.parse(loss) as ResolvedPolicyLoss;
const close = (ours: readonly number[], expected: readonly number[], digits = 5) => {
  expect(ours.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(ours[i]).toBeCloseTo(value, digits);
  });
};

/** Ratios 1.5, 0.5, 1.5, 0.5 with advantages +, -, -, +: clipped above, clipped below, and not clipped twice. */
const fourCorners: Case = {
  current: log(0.3, 0.1, 0.3, 0.1),
  old: log(0.2, 0.2, 0.2, 0.2),
  advantages: [2, -2, -2, 2],
};

describe.each(['cpu', 'onnx'] as const)('surrogates on %s', (backend) => {
  beforeAll(async () => {
    await startEngine({ backend, threads: 2 });
  });
  afterAll(stopEngine);

  it('clip: cuts where the gain would grow', () => {
    const { loss, gradient, clipped } = evaluate(parse({ kind: 'clip', epsilonHigh: 0.28 }), fourCorners);
    expect(loss).toBeCloseTo(-(1.28 * 2) + 0.8 * 2 + 1.5 * 2 - 0.5 * 2, 5);
    close(gradient, [0, 0, 3, -1]);
    expect(clipped).toEqual({ low: 1, high: 1 });
  });

  it('moving-clip: equals clip with the same bounds', () => {
    const moving = evaluate({ kind: 'moving-clip', low: 0.8, high: 1.28, dualClip: 1.2 }, fourCorners);
    const fixed = evaluate(parse({ kind: 'clip', epsilonHigh: 0.28, dualClip: 1.2 }), fourCorners);
    expect(moving.loss).toBeCloseTo(fixed.loss, 6);
    close(moving.gradient, fixed.gradient, 6);
    expect(moving.clipped).toEqual(fixed.clipped);
    // The dual clip holds the third token: its loss is 1.2 * 2, without gradient.
    expect(moving.gradient[2]).toBeCloseTo(0, 12);
  });

  // Sequence ratios: sqrt(2 * 0.5 ...) chosen so that one sequence is inside and one outside on each side.
  // Lengths 2, 1, 2, 1; geometric means 1.05, 1.5, 0.5, 1.5.
  const sequences: Case = {
    current: log(0.21, 0.21, 0.3, 0.05, 0.2, 0.3),
    old: log(0.2, 0.2, 0.2, 0.2, 0.2, 0.2),
    advantages: [1, 1, 1, -1, -1, -1],
    lengths: [2, 1, 2, 1],
    sequenceMean: true,
  };

  it.each(['gspo', 'gspo-token'] as const)('%s: one ratio per sequence, clipped on both sides', (kind) => {
    const { loss, gradient, clipped } = evaluate(
      parse({ kind, epsilonLow: 0.2, epsilonHigh: 0.2 }),
      sequences,
    );
    // Inside 1.05 (A 1); above 1.5 (A 1): 1.2; below 0.5 (A -1): 0.8; above 1.5 (A -1): not clipped.
    expect(loss).toBeCloseTo(-1.05 - 1.2 + 0.8 + 1.5, 5);
    // d s / d log p = s / |y|; the sequence mean keeps it.
    close(gradient, [-1.05 / 2, -1.05 / 2, 0, 0, 0, 1.5]);
    // In tokens: one above, two below.
    expect(clipped).toEqual({ low: 2, high: 1 });
  });

  it('gspo-token: the gradient of a token is that of its own advantage', () => {
    const numbers: Case = {
      current: log(0.2, 0.2),
      old: log(0.2, 0.2),
      advantages: [3, -1],
      sequenceMean: true,
    };
    close(evaluate(parse({ kind: 'gspo-token' }), numbers).gradient, [-1.5, 0.5]);
    // GSPO's own spreads them: mean advantage 1 over the sequence.
    close(evaluate(parse({ kind: 'gspo' }), numbers).gradient, [-0.5, -0.5]);
  });

  it('cispo: bounds the weight on both sides and keeps every gradient', () => {
    const { loss, gradient, clipped } = evaluate(
      parse({ kind: 'cispo', ratioLow: 0.8, ratioHigh: 1.2 }),
      fourCorners,
    );
    const weights = [1.2, 0.8, 1.2, 0.8];
    const expected = weights.map((w, i) => -w * fourCorners.advantages[i]!);
    close(gradient, expected);
    expect(loss).toBeCloseTo(
      expected.reduce((sum, slope, i) => sum + slope * fourCorners.current[i]!, 0),
      5,
    );
    expect(clipped).toEqual({ low: 2, high: 2 });
  });

  it('sapo: closes its gate by the temperature of the sign', () => {
    const { loss, gradient } = evaluate(
      parse({ kind: 'sapo', temperaturePositive: 2, temperatureNegative: 4 }),
      fourCorners,
    );
    const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
    const ratios = [1.5, 0.5, 1.5, 0.5];
    const gates = ratios.map((r, i) => {
      const tau = fourCorners.advantages[i]! > 0 ? 2 : 4;
      const s = sigmoid(tau * (r - 1));
      return { value: (4 / tau) * s, slope: 4 * s * (1 - s) * r };
    });
    expect(loss).toBeCloseTo(
      gates.reduce((sum, { value }, i) => sum - value * fourCorners.advantages[i]!, 0),
      5,
    );
    close(
      gradient,
      gates.map(({ slope }, i) => -slope * fourCorners.advantages[i]!),
    );
  });

  it('sapo: at ratio 1 has the plain policy gradient', () => {
    const same = log(0.2, 0.3);
    close(
      evaluate(parse({ kind: 'sapo' }), { current: same, old: same, advantages: [2, -3] }).gradient,
      [-2, 3],
    );
  });

  it('gmpo: cuts log-ratios one-sidedly by the sign, then takes the geometric mean', () => {
    // Log-ratios +1, 0.1 (A 2) and -1, 0.1 (A -2), range 0.4: the first is cut to 0.4, the third to -0.4.
    const numbers: Case = {
      old: [-2, -2, -2, -2, -2],
      current: [-1, -1.9, -3, -1.9, -1],
      advantages: [2, 2, -2, -2, -2],
      lengths: [2, 2, 1],
      sequenceMean: true,
    };
    const { loss, gradient, clipped } = evaluate(parse({ kind: 'gmpo' }), numbers);
    const [up, down] = [Math.exp(0.25), Math.exp(-0.15)];
    // The fifth has log-ratio 1 with A -2: nothing is cut on that side.
    expect(loss).toBeCloseTo(-2 * up + 2 * down + 2 * Math.E, 5);
    close(gradient, [0, -up, 0, down, 2 * Math.E]);
    expect(clipped).toEqual({ low: 1, high: 1 });
  });

  it('clip-cov: leaves the selected tokens out', () => {
    const { loss, gradient } = evaluate(parse({ kind: 'clip-cov' }), {
      ...fourCorners,
      selected: [0, 0, 1, 0],
    });
    expect(loss).toBeCloseTo(-(1.2 * 2) + 0.8 * 2 - 0.5 * 2, 5);
    close(gradient, [0, 0, 0, -1]);
  });

  it('kl-cov: penalises the selected tokens, in both directions', () => {
    const { loss, gradient } = evaluate(parse({ kind: 'kl-cov', coefficient: 0.5 }), {
      ...fourCorners,
      selected: [1, 1, 0, 0],
    });
    const penalty = 0.5 * (Math.log(1.5) + Math.log(2));
    expect(loss).toBeCloseTo(-3 + 1 + 3 - 1 + penalty, 5);
    close(gradient, [-3 + 0.5, 1 - 0.5, 3, -1]);
  });

  it.each([
    { kind: 'clip', dualClip: 1.3 },
    { kind: 'gspo', epsilonLow: 0.1, epsilonHigh: 0.1 },
    { kind: 'sapo' },
    { kind: 'gmpo' },
    { kind: 'clip-cov' },
    { kind: 'kl-cov' },
    { kind: 'moving-clip', low: 0.7, high: 1.4, dualClip: 2 },
  ])('$kind: has the gradient of finite differences', (loss) => {
    const rng = new Rng('surrogates');
    const lengths = [3, 1, 4];
    const old = Array.from({ length: 8 }, () => rng.uniform(-2.5, -0.5));
    const advantages = lengths.flatMap((length, i) => new Array<number>(length).fill([1.2, -0.7, -1.5][i]!));
    const numbers: Case = {
      old,
      current: old.map((value, i) => value + [0.05, -0.12, 0.6, -0.7, 0.2, -0.3][i % 6]!),
      advantages,
      lengths,
      selected: [0, 1, 0, 0, 1, 0, 1, 0],
      sequenceMean: true,
    };
    const surrogate = loss.kind === 'moving-clip' ? (loss as unknown as ResolvedPolicyLoss) : parse(loss);
    const { gradient } = evaluate(surrogate, numbers);
    const h = 1e-3;
    for (let i = 0; i < 8; i++) {
      const shifted = (sign: number) =>
        evaluate(surrogate, {
          ...numbers,
          current: numbers.current.map((v, k) => (k === i ? v + sign * h : v)),
        }).loss;
      const slope = (shifted(1) - shifted(-1)) / (2 * h);
      expect(Math.abs(gradient[i]! - slope)).toBeLessThan(2e-3 * Math.max(1, Math.abs(slope)));
    }
  });

  it.each(['gspo', 'gspo-token', 'gmpo'])(
    '%s: does not depend on how sequences are cut into batches',
    (kind) => {
      const whole = evaluate(parse({ kind }), sequences);
      const part = (from: number, to: number, lengths: number[]): Case => ({
        current: sequences.current.slice(from, to),
        old: sequences.old.slice(from, to),
        advantages: sequences.advantages.slice(from, to),
        lengths,
        sequenceMean: true,
      });
      const [first, second] = [part(0, 3, [2, 1]), part(3, 6, [2, 1])].map((p) =>
        evaluate(parse({ kind }), p),
      );
      expect(first!.loss + second!.loss).toBeCloseTo(whole.loss, 6);
      close([...first!.gradient, ...second!.gradient], whole.gradient, 6);
    },
  );

  it.each(['gspo', 'gspo-token', 'cispo', 'sapo', 'gmpo'])('%s: padding touches nothing', (kind) => {
    const plain = evaluate(parse({ kind }), sequences);
    const padded = evaluate(parse({ kind }), {
      ...sequences,
      current: [...sequences.current, -50, 0],
      old: [...sequences.old, 0, -50],
      advantages: [...sequences.advantages, 7, -7],
    });
    expect(padded.loss).toBeCloseTo(plain.loss, 6);
    close(padded.gradient, [...plain.gradient, 0, 0], 6);
    expect(padded.clipped).toEqual(plain.clipped);
  });

  it.each([
    { kind: 'gspo' },
    { kind: 'gspo-token' },
    { kind: 'cispo' },
    { kind: 'sapo' },
    { kind: 'gmpo' },
    { kind: 'kl-cov' },
  ])('$kind: stays finite for ratios beyond float32', (loss) => {
    const { loss: value, gradient } = evaluate(parse(loss), {
      current: [0, -200],
      old: [-200, 0],
      advantages: [1, 1],
      lengths: [1, 1],
      selected: [0, 0],
    });
    expect([value, ...gradient].every(Number.isFinite)).toBe(true);
  });

  it('says what a loss lacks', () => {
    expect(() => evaluate(parse({ kind: 'kl-cov' }), fourCorners)).toThrow('selected tokens');
  });
});
