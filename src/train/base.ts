import { join } from 'node:path';
import { InputError, type RgbImage, Rng, silentProgress } from '../core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../data/index.ts';
import { type AdamW, tf } from '../engine/index.ts';
import { openRun, writeTrainingImages } from '../formats/index.ts';
import {
  createModel,
  disposeParameters,
  initialValues,
  loadModelFormat,
  type ModelFormat,
  type ProcessedImage,
  pixelsToPatches,
  saveModel,
  type VisionLanguageModel,
  whitenPatchEmbedding,
} from '../model/index.ts';
import { NonFiniteGuard } from '../rl/index.ts';
import { captionOf } from '../teacher/index.ts';
import type { BaseConfig } from './base.config.ts';
import { createHeads, HEAD_CLASSES, type HeadTarget } from './base-heads.ts';
import { captionLosses, visionLoss } from './base-losses.ts';
import { MODEL_FOLDER, restoreStage, saveStage } from './checkpointing.ts';
import { chunk } from './chunk.ts';
import { DataOrder } from './data-order.ts';
import { type Examples, loadExamples } from './examples.ts';
import { requireWholeBlocks } from './fit-picture.ts';
import { hashInputs } from './inputs.ts';
import { randomCrop } from './pictures.ts';
import { learningRateOf } from './schedule.ts';
import { RESULT_NEUTRAL_KEYS } from './settings.ts';
import type { StageOptions } from './stage.ts';
import { trainableNames } from './trainable.ts';
import { pickParameters, traineeOf } from './trainee.ts';
import { trainingImagesOf } from './training-images.ts';
import { type Trainee, update } from './update.ts';

export interface BaseResult {
  /** Folder of the trained model, Hugging Face layout, BF16. */
  model: string;
  typeAccuracy: number;
}

/**
 * Stage 0: the miniature's stand-in for Qwen2.5-VL's pre-training. First the vision tower learns to tell
 * distortions and their strength through temporary heads, on small crops; then the language model learns to
 * say them in captions. No quality score is ever shown: records pass through `headTarget` and `captionOf`,
 * which have no MOS to show.
 */
export async function trainBase(config: BaseConfig, options: StageOptions = {}): Promise<BaseResult> {
  const progress = options.progress ?? silentProgress;
  const rng = new Rng(config.seed);
  const format = await loadModelFormat(config.preset);
  const prepare = requireWholeBlocks(format.processor, config.vision.crop);
  const train = await loadExamples(config.dataset, 'train', progress, { prepare });
  const validation = await loadExamples(config.dataset, 'validation', progress, {
    prepare,
    limit: config.validationImages,
  });
  const seen = await trainingImagesOf({
    stage: 'base',
    start: null,
    dataset: config.dataset,
    train: train.records,
    validation: validation.records,
  });
  const model = await freshModel(format, config, train, rng);
  const heads = createHeads(model.config.text.hiddenSize, rng.fork('heads'));
  const prompt = renderPrompt(await loadShippedPrompt('student/caption.v1'));
  const total = config.vision.steps + config.caption.steps;

  const run = await openRun(config.run, {
    config,
    stage: 'base',
    inputs: await hashInputs({ model: config.preset, weights: false, dataset: config.dataset, prompt, seen }),
    keepCheckpoints: config.keepCheckpoints,
    mayDiffer: RESULT_NEUTRAL_KEYS,
    tensorboard: config.tensorboard,
    note: (line) => progress.note(line),
  });
  let trainee: Trainee | null = null;
  try {
    const guard = new NonFiniteGuard(config.guards.maxNonFiniteInRow);
    let start = 0;
    let pending: ((optimizer: AdamW) => void) | null = null;
    if (run.resumedFrom !== null) {
      const restored = await restoreStage(run.resumedFrom.folder, model, heads);
      start = restored.state.step;
      guard.restore(restored.state.guard);
      pending = restored.restoreOptimizer;
    }
    const order = new DataOrder(rng.fork('order'), train.records.length);
    let position =
      start < config.vision.steps
        ? start * config.vision.batch.size
        : config.vision.steps * config.vision.batch.size +
          (start - config.vision.steps) * config.caption.batch.size;
    let typeAccuracy = Number.NaN;
    let phase: 'vision' | 'caption' | null = null;

    progress.start('base', total);
    for (let step = start; step < total; step++) {
      const wanted = step < config.vision.steps ? 'vision' : 'caption';
      if (trainee === null || phase !== wanted) {
        trainee?.optimizer.dispose();
        trainee = phaseTrainee(wanted, model, heads, config);
        // A checkpoint at the very border belongs to the phase before; the next one starts with new moments.
        if (pending !== null && step !== config.vision.steps) pending(trainee.optimizer);
        pending = null;
        phase = wanted;
      }
      const settings = config[wanted];
      const local = wanted === 'vision' ? step : step - config.vision.steps;
      const draw = rng.fork('step', step);
      const indices = Array.from({ length: settings.batch.size }, (_, i) => order.at(position + i));
      position += settings.batch.size;
      const side = wanted === 'vision' ? config.vision.crop : null;
      const examples = indices.map((index) => ({
        image: pictureOf(train.images[index]!, side, settings.flip, model, draw),
        target: headTarget(train, index),
      }));
      const captioned = () =>
        examples.map((example, i) => ({
          ...example,
          caption: captionOf(captionFacts(train, indices[i]!), 'varied', `${config.seed}/${step}`),
        }));
      const { microBatch } = settings.batch;
      const micros =
        wanted === 'vision'
          ? chunk(examples, microBatch).map((part) =>
              visionLoss(model, heads, part, config, part.length / examples.length),
            )
          : captionLosses(model, heads, captioned(), prompt.text, config, microBatch);
      const learningRate = learningRateOf(settings.optimizer, settings.steps, local);
      const result = await update(trainee, learningRate, micros);
      guard.observe(result.applied, step);
      const done = step + 1;
      run.metrics(done, {
        loss: result.loss,
        gradientNorm: result.gradientNorm,
        learningRate,
        ...result.metrics,
      });
      progress.update(done, {
        loss: result.loss.toFixed(3),
        ...percent('type', result.metrics.typeAccuracy),
      });

      const last = done === total;
      if (done % config.validateEvery === 0 || last) {
        const measured = await validate(model, heads, validation, config);
        typeAccuracy = measured.typeAccuracy;
        run.metrics(done, {
          'validation/typeAccuracy': measured.typeAccuracy,
          'validation/severityError': measured.severityError,
          'validation/headLoss': measured.loss,
        });
        progress.note(
          `step ${done}: validation distortion type ${(100 * measured.typeAccuracy).toFixed(1)} %, strength off by ${measured.severityError.toFixed(2)} levels`,
        );
      }
      const stop = options.signal?.aborted === true && !last;
      if (done % config.checkpointEvery === 0 || last || stop) {
        const optimizer = trainee.optimizer;
        await run.saveCheckpoint(done, (folder) =>
          saveStage(folder, model, optimizer, { step: done, guard: guard.state() }, heads, { stage: 'base' }),
        );
      }
      if (stop) throw options.signal?.reason;
    }
    progress.stop();
    // A finished run that is asked for again takes no step and so has measured nothing.
    if (start === total) ({ typeAccuracy } = await validate(model, heads, validation, config));
    const folder = join(config.run, MODEL_FOLDER);
    await writeTrainingImages(folder, seen);
    await saveModel(model, folder, { dtype: 'BF16', metadata: { stage: 'base', seed: String(config.seed) } });
    return { model: folder, typeAccuracy };
  } finally {
    trainee?.optimizer.dispose();
    for (const head of heads.values()) head.dispose();
    disposeParameters(model.parameters);
    await run.close();
  }
}

const percent = (name: string, value: number | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: `${(100 * value).toFixed(0)} %` };

/** A model of the preset's shape with new weights, its patch embedding whitened on the training pictures. */
async function freshModel(
  format: ModelFormat,
  config: BaseConfig,
  train: Examples,
  rng: Rng,
): Promise<VisionLanguageModel> {
  const values = initialValues(format.config, rng.fork('weights'));
  const draw = rng.fork('whitening');
  const parts: Float32Array[] = [];
  let count = 0;
  while (count < config.whiteningPatches) {
    const image = pixelsToPatches(
      randomCrop(train.images[draw.integer(train.images.length)]!, config.vision.crop, true, draw),
      format.processor,
    );
    parts.push(image.patches);
    count += image.grid.h * image.grid.w;
  }
  const rowLength = parts[0]!.length / (count / parts.length);
  const patches = new Float32Array(count * rowLength);
  let at = 0;
  for (const part of parts) {
    patches.set(part, at);
    at += part.length;
  }
  whitenPatchEmbedding(values, patches, format.config.vision, rng.fork('whitened'));
  return createModel(format, values);
}

function phaseTrainee(
  phase: 'vision' | 'caption',
  model: VisionLanguageModel,
  heads: ReadonlyMap<string, tf.Variable>,
  config: BaseConfig,
): Trainee {
  const names = trainableNames(model.parameters.keys(), {
    vision: false,
    merger: false,
    language: phase === 'vision',
  });
  const scale = phase === 'vision' ? 1 : config.caption.visionLearningRateScale;
  return traineeOf(
    new Map([...pickParameters(model.parameters, names), ...heads]),
    config[phase].optimizer,
    (name) => (name.startsWith('visual.') ? scale : 1),
  );
}

function pictureOf(
  image: RgbImage,
  side: number | null,
  flip: boolean,
  model: VisionLanguageModel,
  rng: Rng,
): ProcessedImage {
  return pixelsToPatches(randomCrop(image, side ?? image.width, flip, rng), model.processor);
}

function headTarget({ records }: Examples, index: number): HeadTarget {
  const { distortions, content, id } = records[index]!;
  if (content === null) {
    throw new InputError(`record ${id} has no known content`, {
      hint: 'the base stage learns from generated images: q-ponder data synth',
    });
  }
  const byStrength = [...distortions].sort((a, b) => b.strength - a.strength);
  const unknown = distortions.find(({ type }) => !HEAD_CLASSES.includes(type));
  if (unknown !== undefined) {
    throw new InputError(`record ${id} has the distortion ${unknown.type}, which is kept for testing`, {
      hint: `leave such images to the cross split; allowed are ${HEAD_CLASSES.slice(1).join(', ')}`,
    });
  }
  return { distortions: byStrength, contentKind: content.kind };
}

function captionFacts({ records }: Examples, index: number) {
  const { id, distortions, content } = records[index]!;
  return {
    id,
    distortions: distortions.map(({ type, level }) => ({ type, level })),
    ...(content === null ? {} : { contentKind: content.kind }),
  };
}

async function validate(
  model: VisionLanguageModel,
  heads: ReadonlyMap<string, tf.Variable>,
  validation: Examples,
  config: BaseConfig,
): Promise<{ loss: number; typeAccuracy: number; severityError: number }> {
  const total = validation.records.length;
  const sums = { loss: 0, typeAccuracy: 0, severityError: 0 };
  for (const part of chunk(
    validation.records.map((_, index) => index),
    50,
  )) {
    const examples = part.map((index) => ({
      image: pixelsToPatches(validation.images[index]!, model.processor),
      target: headTarget(validation, index),
    }));
    const build = visionLoss(model, heads, examples, config, part.length / total);
    const values = tf.tidy(() => {
      const { loss, metrics } = build();
      return tf.stack([loss, metrics!.typeAccuracy!, metrics!.severityError!]);
    });
    const [loss, typeAccuracy, severityError] = await values.data();
    values.dispose();
    sums.loss += loss!;
    sums.typeAccuracy += typeAccuracy!;
    sums.severityError += severityError!;
  }
  return sums;
}
