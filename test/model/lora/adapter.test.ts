import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import {
  adapterParameters,
  adapterTerm,
  createAdapter,
  droppingOut,
  linear,
  loraSettingsSchema,
  loraTargets,
  mergedWeight,
  type Parameters,
} from '../../../src/model/index.ts';
import { tinyConfig, tinyNetwork } from '../tiny.ts';

beforeAll(async () => {
  await startEngine({ backend: 'cpu' });
});
afterAll(() => stopEngine());

const settings = (changes: object = {}) => loraSettingsSchema.parse({ rank: 2, alpha: 6, ...changes });

describe('which layers are adapted', () => {
  const names = (changes: object) => [...loraTargets(tinyConfig(), settings(changes)).keys()];

  it('are the seven of each block of the language model, and none of the vision tower', () => {
    const layers = names({});
    expect(layers).toHaveLength(2 * 7);
    expect(layers.filter((name) => name.startsWith('visual.'))).toEqual([]);
    expect(layers.slice(0, 7)).toEqual([
      'model.layers.0.self_attn.q_proj',
      'model.layers.0.self_attn.k_proj',
      'model.layers.0.self_attn.v_proj',
      'model.layers.0.self_attn.o_proj',
      'model.layers.0.mlp.gate_proj',
      'model.layers.0.mlp.up_proj',
      'model.layers.0.mlp.down_proj',
    ]);
  });

  it('may be fewer, or the vision tower and merger too', () => {
    expect(names({ targets: ['q_proj'] })).toEqual([
      'model.layers.0.self_attn.q_proj',
      'model.layers.1.self_attn.q_proj',
    ]);
    const visual = names({ targets: ['q_proj'], vision: true, merger: true });
    expect(visual.filter((name) => name.startsWith('visual.blocks.0.'))).toEqual([
      'visual.blocks.0.attn.qkv',
      'visual.blocks.0.attn.proj',
      'visual.blocks.0.mlp.gate_proj',
      'visual.blocks.0.mlp.up_proj',
      'visual.blocks.0.mlp.down_proj',
    ]);
    expect(visual.filter((name) => name.startsWith('visual.merger.'))).toEqual([
      'visual.merger.mlp.0',
      'visual.merger.mlp.2',
    ]);
  });
});

describe('a layer y = W x + s B (A x)', () => {
  // W = [[1, 2], [3, 4]], A = [[1, 1]], B = [[1], [-1]], x = [1, 2]: W x = [5, 11], A x = 3.
  const parameters = (rsLora: boolean, rank = 1): Parameters => {
    const zeros = (count: number) => new Array<number>(count).fill(0);
    const map: Parameters = new Map([['l.weight', tf.variable(tf.tensor2d([1, 2, 3, 4], [2, 2]))]]);
    const pairs = new Map([
      [
        'l',
        {
          down: tf.variable(tf.tensor2d([1, 1, ...zeros(2 * (rank - 1))], [rank, 2])),
          up: tf.variable(tf.tensor2d([1, ...zeros(rank - 1), -1, ...zeros(rank - 1)], [2, rank])),
        },
      ],
    ]);
    map.adapter = { rank, alpha: 8, rsLora, dropout: 0, pairs };
    return map;
  };
  const output = (p: Parameters) => [...linear(p, 'l', tf.tensor2d([1, 2], [1, 2])).dataSync()];

  it('scales by alpha / rank', () => {
    expect(output(parameters(false))).toEqual([5 + 8 * 3, 11 - 8 * 3]);
    expect(output(parameters(false, 4))).toEqual([5 + 2 * 3, 11 - 2 * 3]);
  });

  it('scales by alpha / sqrt(rank) when rank-stabilised', () => {
    expect(output(parameters(true, 4))).toEqual([5 + 4 * 3, 11 - 4 * 3]);
  });

  it('is the same as one matrix W + s B A', () => {
    const weight = { shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) };
    const merged = mergedWeight(weight, Float32Array.of(1, 1), Float32Array.of(1, -1), 8);
    expect([...merged.data]).toEqual([9, 10, -5, -4]);
  });

  it('leaves other layers alone', () => {
    expect(adapterTerm(parameters(false).adapter!, 'other', tf.tensor2d([1, 2], [1, 2]))).toBeUndefined();
  });
});

describe('a new adapter', () => {
  it('changes nothing: B is 0; A lies within 1/sqrt(in) and fills that range', () => {
    const { config, parameters } = tinyNetwork(1);
    parameters.adapter = createAdapter(config, settings(), new Rng(1));
    for (const [name, variable] of adapterParameters(parameters.adapter)) {
      const values = variable.dataSync();
      if (name.endsWith('lora_B.weight')) expect(values.every((value) => value === 0)).toBe(true);
      else {
        const bound = 1 / Math.sqrt(variable.shape[1]!);
        const most = Math.max(...Array.from(values, Math.abs));
        expect(most).toBeLessThanOrEqual(bound);
        expect(most).toBeGreaterThan(bound / 2);
      }
    }
  });

  it('depends on the seed and not on which other layers are adapted', () => {
    const { config } = tinyNetwork(1);
    const a = createAdapter(config, settings(), new Rng(1));
    const b = createAdapter(config, settings({ targets: ['up_proj'] }), new Rng(1));
    const layer = 'model.layers.1.mlp.up_proj';
    expect(a.pairs.get(layer)!.down.dataSync()).toEqual(b.pairs.get(layer)!.down.dataSync());
  });
});

describe('dropout', () => {
  const x = tf.ones([64, 32]) as tf.Tensor2D;
  const narrow = (p: Parameters) => adapterTerm(p.adapter!, 'l', x)!.dataSync() as Float32Array;
  // A sums its inputs and B passes the sum on: the term is the sum of what is kept.
  const parameters = (dropout: number): Parameters =>
    Object.assign(new Map() as Parameters, {
      adapter: {
        ...{ rank: 1, alpha: 1, rsLora: false, dropout },
        pairs: new Map([['l', { down: tf.variable(tf.ones([1, 32])), up: tf.variable(tf.ones([1, 1])) }]]),
      },
    });

  it('is off unless a training step asks for it', () => {
    expect([...narrow(parameters(0.25))]).toEqual(new Array(64).fill(32));
  });

  it('drops inputs of A with the given probability and scales the others by 1 / (1 - p)', () => {
    const sums = narrow(droppingOut(parameters(0.25), new Rng(5)));
    const kept = Array.from(sums, (sum) => sum * 0.75);
    for (const count of kept) expect(count).toBeCloseTo(Math.round(count), 4);
    const total = kept.reduce((a, b) => a + b, 0);
    // 2048 draws at 3/4: mean 1536, standard deviation 19.6; four of them.
    expect(Math.abs(total - 1536)).toBeLessThan(79);
  });

  it('draws the same a second time, and otherwise for another seed', () => {
    const p = parameters(0.5);
    const first = narrow(droppingOut(p, new Rng(1)));
    expect(narrow(droppingOut(p, new Rng(1)))).toEqual(first);
    expect(narrow(droppingOut(p, new Rng(2)))).not.toEqual(first);
  });
});
