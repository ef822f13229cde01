import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  LARGE_CHANGES,
  LARGE_GRPO,
  LARGE_PLAN,
  LARGE_VISION_CHANGES,
} from '../../../scripts/bench-large/config.ts';
import { parseModelConfig, readProcessorConfig } from '../../../src/model/index.ts';
import { coldStartConfigSchema, grpoConfigSchema } from '../../../src/train/index.ts';
import { countsOf } from '../../../src/train/plan/counts.ts';
import { planConfigSchema, planStage, REACHED, workPlan } from '../../../src/train/plan/index.ts';
import { memoryPlan } from '../../../src/train/plan/memory.ts';

const models = fileURLToPath(new URL('../../../models/', import.meta.url));
const MIB = 2 ** 20;

const planOf = (settings: Record<string, unknown>) =>
  planStage(planConfigSchema.parse({ model: `${models}qwen2.5-vl-mini`, ...settings }));

describe('parameters and tokens', () => {
  // The sums that the released checkpoints' own files state.
  it.each([
    ['3b', 3_754_622_976],
    ['7b', 8_292_166_656],
  ])('a Qwen2.5-VL of %s has %i', async (name, expected) => {
    const { counts } = await planOf({ model: `${models}qwen2.5-vl-${name}` });
    expect(counts.parameters).toBe(expected);
  });

  it('the largest has 73.4 thousand million', async () => {
    const { counts } = await planOf({ model: `${models}qwen2.5-vl-72b` });
    expect((counts.parameters / 1e9).toFixed(1)).toBe('73.4');
  });

  // Of smart_resize's published vectors: 384 x 512 becomes 392 x 504.
  it('a picture of 512x384 is 1008 patches and 252 tokens', async () => {
    const { counts } = await planOf({ model: `${models}qwen2.5-vl-7b`, promptTokens: 10, responseTokens: 5 });
    expect(counts).toMatchObject({ patches: 1008, imageTokens: 252, prompt: 262, sequence: 267 });
  });

  // 28 blocks: q and o of 3584, k and v to 512, three of 18944, each with rank 8.
  it('adapters of rank 8 on the 7B model train 20.2 million numbers', async () => {
    const { counts } = await planOf({ model: `${models}qwen2.5-vl-7b`, lora: { rank: 8 } });
    expect(counts.trained).toBe(28 * 8 * (2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18944)));
  });
});

/** The 7B model's merger joins 4 patches of width 1280 to 5120, and makes 3584 of them. */
const MERGER_OF_7B = { merged: 5120, out: 3584 };

describe('parameters read to write one token', () => {
  // Qwen2.5-7B and 3B have 7,615,616,512 and 3,085,938,688 parameters; the former an embedding of 152,064 x 3,584
  // beside its head, the latter one that is its head.
  it.each([
    ['7b', 7_615_616_512 - 152_064 * 3584],
    ['3b', 3_085_938_688],
  ])(
    'are the language model of %s without tower, merger and an embedding that is only looked up',
    async (name, expected) => {
      const { counts } = await planOf({ model: `${models}qwen2.5-vl-${name}` });
      expect(counts.readPerToken).toBe(expected);
    },
  );

  it('count adapters of the language model, not those of the tower', async () => {
    const read = async (lora: object | null, stage = 'grpo') =>
      (await planOf({ model: `${models}qwen2.5-vl-7b`, lora, stage })).counts.readPerToken;
    const adapter = 28 * 8 * (2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18944));
    expect((await read({ rank: 8 })) - (await read(null))).toBe(adapter);
    expect(await read({ rank: 8, vision: true, merger: true })).toBe(await read({ rank: 8 }));
    expect(await read({ rank: 8 }, 'score')).toBe(await read(null));
  });

  it('are what an answer waits for where one is written at a time', async () => {
    const plan = planConfigSchema.parse({ model: `${models}qwen2.5-vl-7b`, stage: 'score', batch: 1 });
    const config = parseModelConfig(JSON.parse(await readFile(`${plan.model}/config.json`, 'utf8')));
    const processor = await readProcessorConfig(`${plan.model}/preprocessor_config.json`);
    const counts = countsOf(config, processor, plan);
    // So many operations a second that only reading takes time, for 80 tokens.
    const flops = { float32: 1e30, bfloat16: 1e30 };
    const device = { name: 'x', memory: null, flops, bandwidth: 1e12 };
    const { seconds } = workPlan(config, counts, plan, device);
    const bytes = (7_615_616_512 - 152_064 * 3584) * 4;
    expect(seconds.rollout).toBeCloseTo((80 * bytes) / (REACHED.bandwidth * 1e12), 6);
  });
});

/** As the recipes of GRPO freeze, but not its defaults. */
const FROZEN = { vision: true, merger: true };

describe('a merger that is trained alone', () => {
  const settings = { model: `${models}qwen2.5-vl-7b`, stage: 'cold-start', batch: 2, microBatch: 2 };
  const { merged, out } = MERGER_OF_7B;
  const tokens = 2 * 252;

  it.each([
    ['whole', { freeze: { vision: true, merger: false } }, { freeze: FROZEN }],
    ['by an adapter', { lora: { merger: true } }, { lora: {} }],
  ])('%s keeps its own activations and none of the tower', async (_, trained, frozen) => {
    const activations = async (changes: object) =>
      (await planOf({ ...settings, ...changes })).memory.kinds.activations;
    const adapted = { ...trained, lora: { merger: true, vision: true } };
    const [with_, without] = [await activations(trained), await activations(frozen)];
    expect(without).toBeGreaterThan(0);
    expect(with_ - without).toBe(tokens * (4 * merged + out) * 4);
    // The tower keeps 32 blocks.
    expect(await activations(adapted)).toBeGreaterThan(with_ + 1e9);
  });

  it('takes a backward pass of the merger, not of the tower', async () => {
    const update = async (merger: boolean) =>
      (await planOf({ ...settings, freeze: { vision: true, merger } })).work.flops.update;
    // Forward 2 operations for each of 5120 x 5120 and 5120 x 3584 weights and token, backward twice that.
    const forward = 2 * tokens * merged * (merged + out);
    expect(((await update(false)) - (await update(true))) / (2 * forward)).toBeCloseTo(1, 6);
  });
});

describe('memory', () => {
  it('of weights, optimiser and pictures is exact', async () => {
    const { counts, memory } = await planOf({
      stage: 'cold-start',
      picture: { width: 100, height: 50 },
      pictures: 7,
      freeze: { vision: false, merger: false },
    });
    expect(memory.kinds.weights).toBe(counts.parameters * 4);
    expect(memory.kinds.optimiser).toBe(counts.parameters * 8);
    expect(memory.kinds.pictures).toBe(100 * 50 * 3 * 7);
    expect(memory.kinds.reference).toBe(0);
  });

  it('GRPO keeps the starting policy, unless an adapter can be left out or there is no KL', async () => {
    const reference = async (changes: object) =>
      (await planOf({ stage: 'grpo', ...changes })).memory.kinds.reference;
    expect(await reference({})).toBeGreaterThan(0);
    expect(await reference({ lora: {} })).toBe(0);
    expect(await reference({ klCoefficient: 0 })).toBe(0);
  });

  /**
   * Peaks of resident memory of real runs, in MiB: `q-ponder train` with the recipes on 4,400 pictures of 112x112,
   * two steps, two threads.
   */
  it.each([
    ['GRPO, 64 sequences at a time', 908, { stage: 'grpo', microBatch: 64 }],
    ['GRPO, 16 at a time', 727, { stage: 'grpo', microBatch: 16 }],
    ['cold start, 16 at a time', 690, { stage: 'cold-start', microBatch: 16, batch: 64 }],
    ['cold start, 64 at a time', 979, { stage: 'cold-start', microBatch: 64, batch: 64 }],
  ])('of the miniature agrees with what was measured within 15 %%: %s', async (_, measured, settings) => {
    const freeze = settings.stage === 'cold-start' ? {} : FROZEN;
    const picture = { width: 112, height: 112 };
    const { memory } = await planOf({ ...settings, freeze, picture, pictures: 4400 });
    expect(Math.abs(memory.total / MIB / measured - 1)).toBeLessThan(0.15);
  });

  /** Of `npm run bench:large`'s model and steps, with 4,004 pictures. */
  it.each([
    ['with', true, 2282],
    ['without', false, 2490],
  ])(
    'of 320 M parameters agrees within 15 %%, %s gradient checkpointing',
    async (_, gradientCheckpointing, measured) => {
      const mini = JSON.parse(await readFile(`${models}qwen2.5-vl-mini/config.json`, 'utf8'));
      const vision_config = { ...mini.vision_config, ...LARGE_VISION_CHANGES };
      const config = parseModelConfig({ ...mini, ...LARGE_CHANGES, vision_config });
      const processor = await readProcessorConfig(`${models}qwen2.5-vl-mini/preprocessor_config.json`);
      const plan = planConfigSchema.parse({
        ...LARGE_PLAN,
        gradientCheckpointing,
        pictures: 4004,
        model: 'of no matter',
      });
      const counts = countsOf(config, processor, plan);
      expect(counts.rows).toBe(LARGE_GRPO.promptsPerStep * LARGE_GRPO.groupSize);
      expect(counts.parameters).toBe(320_471_296);
      const { total } = memoryPlan(config, counts, plan);
      expect(Math.abs(total / MIB / measured - 1)).toBeLessThan(0.15);
    },
  );
});

describe('the folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'q-ponder-plan-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('may be an adapter: its base, with the views that the adapter keeps', async () => {
    await writeFile(
      join(folder, 'adapter_config.json'),
      JSON.stringify({
        peft_type: 'LORA',
        r: 4,
        lora_alpha: 8,
        base_model_name_or_path: `${models}qwen2.5-vl-mini`,
      }),
    );
    const own = JSON.parse(await readFile(`${models}qwen2.5-vl-mini/preprocessor_config.json`, 'utf8'));
    await writeFile(
      join(folder, 'preprocessor_config.json'),
      JSON.stringify({ ...own, q_ponder_views: { short_side: 112, crop: 56, count: 5 } }),
    );
    const settings = { model: folder, stage: 'score', batch: 2 };
    const { counts } = await planOf(settings);
    // 56 pixels are 4 x 4 patches of 14; a picture is scored in 5 views.
    expect(counts).toMatchObject({ parameters: 1_714_016, patches: 16, imageTokens: 4, rows: 10 });
  });

  it('may keep the settings for images in processor_config.json alone, as newer transformers do', async () => {
    const newer = join(folder, 'newer');
    await mkdir(newer);
    await cp(`${models}qwen2.5-vl-mini/config.json`, join(newer, 'config.json'));
    const image_processor = { patch_size: 14, min_pixels: 3136, max_pixels: 12544 };
    await writeFile(join(newer, 'processor_config.json'), JSON.stringify({ image_processor }));
    const square = { width: 1000, height: 1000 };
    // 12,544 pixels are 112 x 112, which is 4 x 4 tokens of 28 pixels.
    expect((await planOf({ model: newer, picture: square })).counts.imageTokens).toBe(16);
  });
});

describe('advice', () => {
  it('names what would lower the peak and is not used yet', async () => {
    const settings = { model: `${models}qwen2.5-vl-7b`, stage: 'cold-start', microBatch: 1 };
    expect((await planOf({ ...settings, lora: {} })).savings).toEqual([
      'gradientCheckpointing',
      'fewer pixels',
    ]);
    const { savings } = await planOf({ ...settings, lora: {}, gradientCheckpointing: true });
    expect(savings).toEqual(['fewer pixels']);
  });

  // Weights of 8,292,166,656 numbers of 4 bytes are 30.9 GiB, which no card of 24 GB holds.
  it('names the cards that hold it, smallest first', async () => {
    const { fits } = await planOf({ model: `${models}qwen2.5-vl-7b`, stage: 'score', batch: 1 });
    expect(fits).toEqual(['a100-40gb', 'a6000', 'l40s', 'a100-80gb', 'h100', 'h200']);
  });

  it('refuses fewer pixels than the processor enlarges pictures to', async () => {
    await expect(planOf({ maxPixels: 3135 })).rejects.toThrow(/3135, below the 3136/);
    // 512x384 divided by sqrt(512 x 384 / 3136) = 7.92 is 64.7 x 48.5, cut to 56 x 28.
    expect((await planOf({ maxPixels: 3136 })).counts.imageTokens).toBe(2);
  });
});

describe('work', () => {
  it('the time of a rollout includes the pictures: twice the patches, more time, for the same tokens', async () => {
    const config = parseModelConfig(JSON.parse(await readFile(`${models}qwen2.5-vl-7b/config.json`, 'utf8')));
    const processor = await readProcessorConfig(`${models}qwen2.5-vl-7b/preprocessor_config.json`);
    const plan = planConfigSchema.parse({ model: 'of no matter', stage: 'score' });
    const counts = countsOf(config, processor, plan);
    const rate = 1e12;
    const device = {
      name: 'x',
      memory: null,
      flops: { float32: rate, bfloat16: rate },
      bandwidth: 1e12,
    };
    const of = (patches: number) => workPlan(config, { ...counts, patches }, plan, device);
    const [once, twice] = [of(1008), of(2016)];
    expect(twice.seconds.rollout - once.seconds.rollout).toBeCloseTo(
      (twice.flops.rollout - once.flops.rollout) / (0.4 * rate),
      6,
    );
    expect(twice.flops.rollout).toBeGreaterThan(once.flops.rollout);
  });

  it('without a freeze, each stage trains what its own configuration trains by default', async () => {
    const grpo = { model: 'unused', dataset: 'unused', run: 'unused' };
    const parts = {
      'cold-start': coldStartConfigSchema.parse({ ...grpo, rows: 'unused' }).freeze,
      grpo: grpoConfigSchema.parse(grpo).freeze,
    };
    for (const stage of ['cold-start', 'grpo'] as const) {
      const [own, said] = [await planOf({ stage }), await planOf({ stage, freeze: parts[stage] })];
      expect(own.memory.total).toBe(said.memory.total);
      expect(own.work.flops).toEqual(said.work.flops);
    }
  });

  it('an adapter spares the gradients of weights, checkpointing costs a forward pass', async () => {
    const update = async (changes: object) => {
      const { work } = await planOf({ stage: 'cold-start', ...changes });
      return work.flops.update;
    };
    const [whole, adapted, again] = [
      await update({ freeze: FROZEN }),
      await update({ lora: {} }),
      await update({ lora: {}, gradientCheckpointing: true }),
    ];
    // The frozen tower's forward pass is in all three; a pass of the language model is what they differ by.
    expect(whole - adapted).toBeCloseTo(again - adapted, 0);
    expect(whole - adapted).toBeGreaterThan(0);
  });

  it('time follows the device: half the operations a second, twice the time of an update', async () => {
    const plan = planConfigSchema.parse({ model: `${models}qwen2.5-vl-7b`, stage: 'cold-start' });
    const config = parseModelConfig(JSON.parse(await readFile(`${plan.model}/config.json`, 'utf8')));
    const processor = await readProcessorConfig(`${plan.model}/preprocessor_config.json`);
    const counts = countsOf(config, processor, plan);
    const seconds = (rate: number) =>
      workPlan(config, counts, plan, {
        name: 'x',
        memory: null,
        flops: { float32: rate, bfloat16: rate },
        bandwidth: 1e12,
      }).seconds.update;
    expect(seconds(1e12) / seconds(2e12)).toBeCloseTo(2, 10);
  });
});
