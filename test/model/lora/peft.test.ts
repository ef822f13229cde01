/** Against an adapter, logits and gradients recorded from PEFT by scripts/reference/record-lora.py. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointError } from '../../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import { SafetensorsFile, type TensorData, writeSafetensors } from '../../../src/formats/index.ts';
import {
  adapterParameters,
  type Batch,
  baseFolderOf,
  checkpointingOf,
  collate,
  crossEntropy,
  forward,
  languageHead,
  loadAdapter,
  loadParameters,
  loraScaling,
  mergedWeight,
  type Network,
  preprocess,
  readModelConfig,
  readProcessorConfig,
  readWeights,
  requireAdapterFits,
  saveAdapter,
} from '../../../src/model/index.ts';

const fixtures = new URL('../fixtures/', import.meta.url).pathname;
const base = join(fixtures, 'qwen-tiny-random');
const folder = join(fixtures, 'lora');

interface Reference {
  logits: number[];
  loss: number;
  gradients: Record<string, number[]>;
}

let reference: Reference;
let network: Network;
let batch: Batch;

/** The last four tokens are the response. */
async function load(): Promise<void> {
  reference = JSON.parse(await readFile(join(folder, 'reference.json'), 'utf8'));
  const config = await readModelConfig(join(base, 'config.json'));
  network = { config, parameters: loadParameters(config, await readWeights(base, config)) };
  network.parameters.adapter = await loadAdapter(folder, config, 'of no matter');
  const { images, tokenIds } = JSON.parse(await readFile(join(base, 'reference.json'), 'utf8'));
  const { height, width, rgb } = images[0];
  const processor = await readProcessorConfig(join(base, 'preprocessor_config.json'));
  const ids: number[] = tokenIds[0];
  batch = collate(
    [
      {
        tokenIds: ids,
        roles: ids.map((_, i) => (i < ids.length - 4 ? 'prompt' : 'action')),
        images: [preprocess({ height, width, data: Uint8Array.from(rgb) }, processor)],
      },
    ],
    config,
    { padTo: 1 },
  );
}

function lastLogits(of: Network, rows: number): number[] {
  return tf.tidy(() => {
    const hidden = forward(of, batch);
    const { hiddenSize } = of.config.text;
    const flat = tf.reshape(hidden, [batch.length, hiddenSize]);
    const last = tf.slice(flat, [batch.length - rows, 0], [rows, hiddenSize]) as tf.Tensor2D;
    return [...languageHead(of.parameters, of.config.text, last).dataSync()];
  });
}

const largest = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

function relativeError(actual: ArrayLike<number>, expected: readonly number[]): number {
  expect(actual.length).toBe(expected.length);
  return largest(expected.map((value, i) => actual[i]! - value)) / largest(expected);
}

describe.each(['cpu', 'onnx'] as const)('an adapter of PEFT on the backend %s', (backend) => {
  beforeAll(async () => {
    await startEngine({ backend, ...(backend === 'onnx' ? { threads: 2 } : {}) });
    await load();
  });
  afterAll(() => stopEngine());

  it('gives the logits of PEFT', () => {
    expect(relativeError(lastLogits(network, 5), reference.logits)).toBeLessThan(1e-4);
  });

  it.each([false, true])('gives the loss and gradients of PEFT, gradient checkpointing %s', (saving) => {
    const trained = adapterParameters(network.parameters.adapter!);
    const checkpointing = saving ? checkpointingOf(trained) : undefined;
    const before = tf.memory().numTensors;
    const { value, grads } = tf.variableGrads(
      () => crossEntropy(network, batch, { checkpointing }).sum,
      [...trained.values()],
    );
    expect(value.dataSync()[0]).toBeCloseTo(reference.loss, 3);
    for (const [name, expected] of Object.entries(reference.gradients)) {
      const ours = trained.get(
        name.replace(/^model\.visual\./, 'visual.').replace(/^model\.language_model\./, 'model.'),
      )!;
      expect([name, relativeError(grads[ours.name]!.dataSync(), expected)]).toEqual([
        name,
        expect.closeTo(0, 3),
      ]);
    }
    tf.dispose([value, ...Object.values(grads)]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('merged into the weights gives the same logits', async () => {
    const adapter = network.parameters.adapter!;
    const weights = await readWeights(base, network.config);
    for (const [layer, { down, up }] of adapter.pairs) {
      const name = `${layer}.weight`;
      const [a, b] = [down.dataSync<'float32'>(), up.dataSync<'float32'>()];
      weights.set(name, mergedWeight(weights.get(name)!, a, b, loraScaling(adapter)));
    }
    const merged: Network = { ...network, parameters: loadParameters(network.config, weights) };
    expect(relativeError(lastLogits(merged, 5), reference.logits)).toBeLessThan(1e-4);
  });
});

describe('the folder of an adapter', () => {
  let scratch: string;
  let copies = 0;
  beforeAll(async () => {
    await startEngine({ backend: 'cpu' });
    await load();
    scratch = await mkdtemp(join(tmpdir(), 'q-ponder-peft-'));
  });
  afterAll(async () => {
    stopEngine();
    await rm(scratch, { recursive: true, force: true });
  });

  const config = () => network.config;
  const copy = async (): Promise<string> => {
    const target = join(scratch, String(copies++));
    await cp(folder, target, { recursive: true });
    return target;
  };
  const edit = async (target: string, changes: Record<string, unknown>): Promise<void> => {
    const path = join(target, 'adapter_config.json');
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...changes }));
  };
  const rewrite = async (
    target: string,
    change: (tensors: Map<string, TensorData>) => void,
  ): Promise<void> => {
    const path = join(target, 'adapter_model.safetensors');
    const file = await SafetensorsFile.open(path);
    const tensors = new Map<string, TensorData>();
    for (const name of file.tensors.keys()) tensors.set(name, await file.read(name));
    await file.close();
    change(tensors);
    await writeSafetensors(path, tensors);
  };
  const failure = (target: string, fingerprint = 'of no matter'): Promise<Error> =>
    loadAdapter(target, config(), fingerprint).then(
      () => new Error('it loaded'),
      (error: Error) => error,
    );

  it('is written as it was read: the same matrices, rank and scale', async () => {
    const adapter = network.parameters.adapter!;
    const target = join(scratch, 'written');
    await saveAdapter(adapter, target, { base: '../base', fingerprint: 'abc', metadata: { step: '7' } });
    const again = await loadAdapter(target, config(), 'abc');
    expect({ rank: again.rank, alpha: again.alpha, rsLora: again.rsLora }).toEqual({
      rank: 2,
      alpha: 6,
      rsLora: true,
    });
    const [ours, theirs] = [adapterParameters(again), adapterParameters(adapter)];
    expect([...ours.keys()]).toEqual([...theirs.keys()]);
    for (const [name, variable] of theirs) expect(ours.get(name)!.dataSync()).toEqual(variable.dataSync());
  });

  it('names its tensors as PEFT does, and matches its own layers and no others', async () => {
    const target = join(scratch, 'named');
    await saveAdapter(network.parameters.adapter!, target, { base, fingerprint: 'abc' });
    const [ours, theirs] = await Promise.all(
      [target, folder].map((f) => SafetensorsFile.open(join(f, 'adapter_model.safetensors'))),
    );
    expect([...ours!.tensors.keys()].sort()).toEqual([...theirs!.tensors.keys()].sort());
    await ours!.close();
    await theirs!.close();
    const { target_modules } = JSON.parse(await readFile(join(target, 'adapter_config.json'), 'utf8'));
    const pattern = new RegExp(`^(?:${target_modules})$`);
    for (const [name, expected] of [
      ['model.language_model.layers.1.mlp.gate_proj', true],
      ['model.layers.1.mlp.gate_proj', true],
      ['model.visual.blocks.2.mlp.gate_proj', true],
      ['model.visual.merger.mlp.0', true],
      ['model.visual.merger.mlp.1', false],
      ['model.language_model.layers.1.input_layernorm', false],
      ['lm_head', false],
    ] as const) {
      expect([name, pattern.test(name)]).toEqual([name, expected]);
    }
  });

  it('of the language model alone never touches the vision tower’s layers of the same name', async () => {
    const { pairs, ...rest } = network.parameters.adapter!;
    const own = new Map([...pairs].filter(([layer]) => layer.startsWith('model.')));
    const target = join(scratch, 'language');
    await saveAdapter({ ...rest, pairs: own }, target, { base, fingerprint: 'abc' });
    const { target_modules } = JSON.parse(await readFile(join(target, 'adapter_config.json'), 'utf8'));
    const pattern = new RegExp(`^(?:${target_modules})$`);
    expect(pattern.test('model.visual.blocks.2.mlp.gate_proj')).toBe(false);
    expect(pattern.test('model.language_model.layers.0.mlp.gate_proj')).toBe(true);
  });

  it('leads to its base by a path relative to itself', async () => {
    expect(await baseFolderOf(folder)).toBe(base);
  });

  it('says where a base is no folder', async () => {
    const target = await copy();
    await edit(target, { base_model_name_or_path: 'Qwen/Qwen2.5-VL-7B-Instruct' });
    await expect(baseFolderOf(target)).rejects.toThrow(/Qwen\/Qwen2.5-VL-7B-Instruct.*no folder here/);
  });

  it('says where the base is an adapter again, itself included', async () => {
    const target = await copy();
    await edit(target, { base_model_name_or_path: folder });
    await expect(baseFolderOf(target)).rejects.toThrow(/which is itself an adapter/);
    await edit(target, { base_model_name_or_path: '.' });
    await expect(baseFolderOf(target)).rejects.toThrow(/which is itself an adapter/);
  });

  it('says where the matrices are missing', async () => {
    const target = await copy();
    await rm(join(target, 'adapter_model.safetensors'));
    const error = await failure(target);
    expect(error).toBeInstanceOf(CheckpointError);
    expect(error.message).toMatch(/has adapter_config.json but no adapter_model.safetensors/);
  });

  it.each(['gaussian', 'orthogonal', 'eva', true, false, null, undefined])(
    'that began as %s is plain LoRA',
    async (init) => {
      const target = await copy();
      await edit(target, { init_lora_weights: init });
      const { pairs } = await loadAdapter(target, config(), 'of no matter');
      expect([...pairs.keys()]).toEqual([...network.parameters.adapter!.pairs.keys()]);
    },
  );

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['another method', { peft_type: 'IA3' }, /peft_type/],
    ['DoRA', { use_dora: true }, /use_dora: true is not supported/],
    ['layers trained whole', { modules_to_save: ['lm_head'] }, /modules_to_save: \["lm_head"\]/],
    ['ranks of its own', { rank_pattern: { q_proj: 8 } }, /rank_pattern/],
    ['trained biases', { bias: 'all' }, /bias/],
    [
      'PiSSA, which takes its start out of the base',
      { init_lora_weights: 'pissa_niter_4' },
      /"pissa_niter_4"/,
    ],
    ['OLoRA, the same', { init_lora_weights: 'olora' }, /"olora" changes the base's weights too/],
    ['LoftQ, the same', { init_lora_weights: 'loftq' }, /init_lora_weights: "loftq"/],
    ['no rank', { r: undefined }, /r: /],
    ['another rank than its matrices', { r: 4 }, /is \[2, 32\] instead of \[4, 32\]/],
  ])('with %s is refused', async (_, changes, message) => {
    const target = await copy();
    await edit(target, changes);
    const error = await failure(target);
    expect(error).toBeInstanceOf(CheckpointError);
    expect(error.message).toMatch(message);
  });

  it.each<[string, (tensors: Map<string, TensorData>) => void, RegExp]>([
    [
      'half a pair',
      (t) => void t.delete('base_model.model.model.language_model.layers.0.mlp.up_proj.lora_B.weight'),
      /model\.layers\.0\.mlp\.up_proj has lora_A but not lora_B/,
    ],
    [
      'a layer too many',
      (t) =>
        void t.set('base_model.model.model.language_model.layers.9.mlp.up_proj.lora_A.weight', {
          shape: [2, 32],
          data: new Float32Array(64),
        }),
      /no linear layer model\.layers\.9\.mlp\.up_proj/,
    ],
    [
      'another width',
      (t) =>
        void t.set('base_model.model.model.language_model.layers.0.mlp.up_proj.lora_A.weight', {
          shape: [2, 33],
          data: new Float32Array(66),
        }),
      /is \[2, 33\] instead of \[2, 32\]/,
    ],
    [
      'a NaN',
      (t) => {
        t.get('base_model.model.model.language_model.layers.0.mlp.up_proj.lora_A.weight')!.data[3] =
          Number.NaN;
      },
      /NaN or infinite beside model\.layers\.0\.mlp\.up_proj/,
    ],
    ['no tensors', (t) => t.clear(), /holds no tensors/],
  ])('with %s is refused', async (_, change, message) => {
    const target = await copy();
    await rewrite(target, change);
    const error = await failure(target);
    expect(error).toBeInstanceOf(CheckpointError);
    expect(error.message).toMatch(message);
  });

  it('is refused on other weights than it was trained on, and on other shapes before any is read', async () => {
    const target = join(scratch, 'elsewhere');
    await saveAdapter(network.parameters.adapter!, target, { base, fingerprint: 'first' });
    expect((await failure(target, 'second')).message).toMatch(/was trained on another model/);
    const wider = { ...config(), text: { ...config().text, intermediateSize: 96 } };
    await expect(requireAdapterFits(target, wider)).rejects.toThrow(/instead of \[/);
  });
});
