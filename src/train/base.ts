import { join } from 'node:path';
import { InputError, type RgbImage, Rng, silentProgress } from '../core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../data/index.ts';
import { type AdamW, tf } from '../engine/index.ts';
import { openRun } from '../formats/index.ts';
import {
  appendTokens,
  collate,
  createModel,
  crossEntropy,
  encodeImages,
  initialValues,
  loadModelFormat,
  type ProcessedImage,
  pixelsToPatches,
  promptSequence,
  type Sequence,
  saveModel,
  stackPatches,
  type VisionLanguageModel,
  visionPlan,
  whitenPatchEmbedding,
} from '../model/index.ts';
import { NonFiniteGuard } from '../rl/index.ts';
import { captionOf } from '../teacher/index.ts';
import type { BaseConfig } from './base.config.ts';
import { createHeads, type HeadTarget, headLoss, headTargets } from './base-heads.ts';
import { MODEL_FOLDER, restoreStage, saveStage } from './checkpointing.ts';
import { chunk } from './chunk.ts';
import { DataOrder } from './data-order.ts';
import { type Examples, loadExamples } from './examples.ts';
import { randomCrop } from './pictures.ts';
import { learningRateOf } from './schedule.ts';
import type { StageOptions } from './stage.ts';
import { trainableNames } from './trainable.ts';
import { pickParameters, traineeOf } from './trainee.ts';
import { type MicroLoss, type Trainee, update } from './update.ts';

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
  const train = await loadExamples(config.dataset, ['train'], progress);
  const validation = await loadExamples(config.dataset, ['validation'], progress, config.validationImages);
  const model = await freshModel(config, train, rng);
  const heads = createHeads(model.config.text.hiddenSize, rng.fork('heads'));
  const prompt = renderPrompt(await loadShippedPrompt('student/caption.v1')).text;
  const total = config.vision.steps + config.caption.steps;

  const run = await openRun(config.run, {
    config,
    stage: 'base',
    keepCheckpoints: config.keepCheckpoints,
    note: progress.note,
  });
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
    let trainee: Trainee | null = null;
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
      const micros = chunk(indices, settings.batch.microBatch).map((part) => {
        const images = part.map((index) => pictureOf(train.images[index]!, side, settings.flip, model, draw));
        const targets = part.map((index) => headTarget(train, index));
        const share = part.length / indices.length;
        if (wanted === 'vision') return visionLoss(model, heads, images, targets, config, share);
        const texts = part.map((index) =>
          captionOf(captionFacts(train, index), 'varied', `${config.seed}/${step}`),
        );
        return captionLoss(model, heads, images, targets, texts, prompt, config, share);
      });
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
      const stop = options.signal?.aborted === true;
      if (done % config.checkpointEvery === 0 || last || stop) {
        const optimizer = trainee.optimizer;
        await run.saveCheckpoint(done, (folder) =>
          saveStage(folder, model, optimizer, { step: done, guard: guard.state() }, heads, { stage: 'base' }),
        );
      }
      if (stop) throw options.signal?.reason;
    }
    progress.stop();
    const folder = join(config.run, MODEL_FOLDER);
    await saveModel(model, folder, { dtype: 'BF16', metadata: { stage: 'base', seed: String(config.seed) } });
    return { model: folder, typeAccuracy };
  } finally {
    await run.close();
  }
}

const percent = (name: string, value: number | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: `${(100 * value).toFixed(0)} %` };

/** A model of the preset's shape with new weights, its patch embedding whitened on the training pictures. */
async function freshModel(config: BaseConfig, train: Examples, rng: Rng): Promise<VisionLanguageModel> {
  const format = await loadModelFormat(config.preset);
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

function visionLoss(
  model: VisionLanguageModel,
  heads: ReadonlyMap<string, tf.Variable>,
  images: ProcessedImage[],
  targets: HeadTarget[],
  config: BaseConfig,
  share: number,
): () => MicroLoss {
  const plan = visionPlan(images[0]!.grid, model.config.vision);
  const patches = stackPatches(images, plan);
  return () => {
    const tokens = encodeImages(model, [{ plan, count: images.length, images, patches }])!;
    const shaped = tf.reshape(tokens, [images.length, plan.tokens, -1]) as tf.Tensor3D;
    const output = headLoss(heads, shaped, headTargets(targets), {
      severity: config.severityWeight,
      content: config.contentWeight,
    });
    const part = (value: tf.Scalar): tf.Scalar => tf.mul(value, share);
    return {
      loss: part(output.loss),
      metrics: { typeAccuracy: part(output.typeAccuracy), severityError: part(output.severityError) },
    };
  };
}

function captionLoss(
  model: VisionLanguageModel,
  heads: ReadonlyMap<string, tf.Variable>,
  images: ProcessedImage[],
  targets: HeadTarget[],
  texts: string[],
  prompt: string,
  config: BaseConfig,
  share: number,
): () => MicroLoss {
  const { tokenizer } = model;
  const sequences: Sequence[] = texts.map((text, i) =>
    appendTokens(
      promptSequence(
        model,
        [{ role: 'user', content: [{ type: 'image' }, { type: 'text', text: prompt }] }],
        [images[i]!],
      ),
      [...tokenizer.encode(text), tokenizer.endOfSequenceIds[0]!],
      'action',
    ),
  );
  const batch = collate(sequences, model.config);
  const [group] = batch.images;
  return () => {
    const embeddings = encodeImages(model, batch.images)!;
    const { sum, count } = crossEntropy(model, batch, { imageEmbeddings: embeddings });
    const caption = tf.mul(sum, share / count) as tf.Scalar;
    const tokens = tf.reshape(embeddings, [group!.count, group!.plan.tokens, -1]) as tf.Tensor3D;
    const output = headLoss(heads, tokens, headTargets(targets), {
      severity: config.severityWeight,
      content: config.contentWeight,
    });
    return {
      loss: tf.add(caption, tf.mul(output.loss, share * config.caption.headWeight)) as tf.Scalar,
      metrics: {
        captionLoss: caption,
        typeAccuracy: tf.mul(output.typeAccuracy, share) as tf.Scalar,
        severityError: tf.mul(output.severityError, share) as tf.Scalar,
      },
    };
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
    const images = part.map((index) => pixelsToPatches(validation.images[index]!, model.processor));
    const targets = part.map((index) => headTarget(validation, index));
    const build = visionLoss(model, heads, images, targets, config, part.length / total);
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
