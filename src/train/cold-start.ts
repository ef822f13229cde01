import { InputError, Rng, readAllJsonl, silentProgress } from '../core/index.ts';
import { loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../data/index.ts';
import { changingScalars, tf } from '../engine/index.ts';
import { openRun } from '../formats/index.ts';
import {
  appendTokens,
  baseOf,
  batchFeatures,
  checkpointingOf,
  collate,
  crossEntropy,
  disposeParameters,
  droppingOut,
  encodeImages,
  encodeText,
  type ImageFeatures,
  loadModel,
  loadModelFormat,
  type ProcessedImage,
  promptSequence,
  type VisionLanguageModel,
  withViews,
} from '../model/index.ts';
import { NonFiniteGuard } from '../rl/index.ts';
import { type ColdStartRow, coldStartRowSchema } from '../teacher/index.ts';
import { adapt, pictureFeaturesOf, trainedParameters } from './adapt.ts';
import { bucketed } from './bucketed.ts';
import { restoreStage, saveStage } from './checkpointing.ts';
import type { ColdStartConfig } from './cold-start.config.ts';
import { DataOrder } from './data-order.ts';
import { type Examples, loadExamples } from './examples.ts';
import { exportBest } from './export-best.ts';
import { fitToProcessor } from './fit-picture.ts';
import { hashInputs } from './inputs.ts';
import { trainingPicture } from './pictures.ts';
import { learningRateOf } from './schedule.ts';
import { createScoreHead, scoreHeadLoss } from './score-head.ts';
import { RESULT_NEUTRAL_KEYS } from './settings.ts';
import type { StageOptions, StageResult } from './stage.ts';
import { requireSameMos } from './teacher-scores.ts';
import { traineeOf } from './trainee.ts';
import { trainingImagesOf } from './training-images.ts';
import { type MicroLoss, update } from './update.ts';
import { describeValidation, noteFewImages, requireScores, selectionValue, validate } from './validation.ts';

/**
 * Stage 1, the cold start of Q-Ponder (arXiv 2506.05384): cross entropy on a teacher's reasoning and score,
 *
 *   L = -(1/|T|) sum over response tokens t of log p(y_t | image, prompt, y_<t),
 *
 * T being the response tokens of the whole optimiser batch. The result is Q-Ponder-CI. It learns from the
 * teacher's words alone; MOS enters only where the validation split chooses the best checkpoint.
 */
export async function trainColdStart(
  config: ColdStartConfig,
  options: StageOptions = {},
): Promise<StageResult> {
  const progress = options.progress ?? silentProgress;
  const rng = new Rng(config.seed).fork('cold-start');
  const prompt = renderPrompt(await loadShippedPrompt(config.prompt));
  const { processor: own } = await loadModelFormat(config.model);
  const processor = config.views === null ? own : withViews(own, config.views, 'views');
  const prepare = fitToProcessor(processor);
  const train = await loadExamples(config.dataset, 'train', progress, { prepare });
  const validation = await loadExamples(config.dataset, 'validation', progress, {
    prepare,
    limit: config.validationImages,
  });
  requireScores(validation);
  noteFewImages(validation, progress);
  const seen = await trainingImagesOf({
    stage: 'cold-start',
    start: config.model,
    dataset: config.dataset,
    train: train.records,
    validation: validation.records,
  });
  const lessons = matchRows(await readAllJsonl(config.rows, coldStartRowSchema), train, prompt, config);
  const model = { ...(await loadModel(config.model)), processor };
  adapt(model, config.lora, rng);
  const trained = trainedParameters(model, config.freeze, (line) => progress.note(line));
  const head =
    config.scoreHeadWeight > 0
      ? createScoreHead(model.config.text.hiddenSize, rng.fork('score-head'))
      : new Map<string, tf.Variable>();
  const trainee = traineeOf(new Map([...trained, ...head]), config.optimizer, (name) =>
    name.startsWith('visual.') ? config.visionLearningRateScale : 1,
  );
  const cache = pictureFeaturesOf(model, trained, config.pictureCache);
  const run = await openRun(config.run, {
    config,
    stage: 'cold-start',
    inputs: await hashInputs({ ...config, seen, weights: true, prompt }),
    keepCheckpoints: config.keepCheckpoints,
    mayDiffer: RESULT_NEUTRAL_KEYS,
    tensorboard: config.tensorboard,
    note: (line) => progress.note(line),
  });
  try {
    const guard = new NonFiniteGuard(config.guards.maxNonFiniteInRow);
    let start = 0;
    if (run.resumedFrom !== null) {
      const { state, restoreOptimizer } = await restoreStage(run.resumedFrom.folder, model, head);
      restoreOptimizer(trainee.optimizer);
      guard.restore(state.guard);
      start = state.step;
    }
    const order = new DataOrder(rng.fork('order'), lessons.length);
    progress.start('cold start', config.steps);
    progress.update(start);
    for (let step = start; step < config.steps; step++) {
      const draw = rng.fork('step', step);
      const batch = order.batch(step, config.batch.size).map((index) => {
        const { row, image } = lessons[index]!;
        const picture =
          cache?.picture(image, train.images[image]!, config.flip, draw) ??
          trainingPicture(train.images[image]!, config.flip, model.processor, draw);
        return { row, image: picture };
      });
      const features = await cache?.of(batch.map(({ image }) => image));
      const micros = responseLosses({ model, trained, prompt, head, config, features, rng: draw }, batch);
      const learningRate = learningRateOf(config.optimizer, config.steps, step);
      const began = performance.now();
      const result = await update(trainee, learningRate, micros);
      guard.observe(result.applied, step);
      const done = step + 1;
      run.metrics(done, {
        loss: result.loss,
        gradientNorm: result.gradientNorm,
        learningRate,
        ...result.metrics,
      });
      run.timings(done, { seconds: (performance.now() - began) / 1000 });
      progress.update(done, { loss: result.loss.toFixed(3) });

      const last = done === config.steps;
      const stop = options.signal?.aborted === true && !last;
      let best: { metric: string; value: number } | undefined;
      if (done % config.validateEvery === 0 || last) {
        const values = await validate(model, prompt, validation, config);
        run.metrics(done, values);
        progress.note(`step ${done}: ${describeValidation(values)}`);
        const value = selectionValue(values, validation.records.length);
        if (value !== null && value > (run.best?.value ?? Number.NEGATIVE_INFINITY)) {
          best = { metric: 'validation/(srcc+plcc)/2', value };
        }
      }
      if (done % config.checkpointEvery === 0 || best !== undefined || last || stop) {
        await run.saveCheckpoint(
          done,
          (folder) =>
            saveStage(folder, model, trainee.optimizer, { step: done, guard: guard.state() }, head, {
              stage: 'cold-start',
              prompt: prompt.hash,
            }),
          best,
        );
      }
      if (stop) throw options.signal?.reason;
    }
    progress.stop();
    return await exportBest(
      run,
      config.run,
      { stage: 'cold-start', prompt: prompt.hash },
      seen,
      baseOf(model),
    );
  } finally {
    trainee.optimizer.dispose();
    for (const variable of head.values()) variable.dispose();
    cache?.dispose();
    disposeParameters(model.parameters);
    await run.close();
  }
}

interface Lesson {
  row: ColdStartRow;
  /** Index into the training images. */
  image: number;
}

/** Joins rows to the images they speak of. A row for another split, prompt, image or score is an InputError. */
function matchRows(
  rows: readonly ColdStartRow[],
  train: Examples,
  prompt: RenderedPrompt,
  config: ColdStartConfig,
): Lesson[] {
  const indexOf = new Map(train.records.map(({ id }, index) => [id, index]));
  const lessons: Lesson[] = [];
  for (const row of rows) {
    const image = indexOf.get(row.id);
    if (image === undefined) {
      throw new InputError(
        `${config.rows} speaks of image ${row.id}, which is not in the train split of ${config.dataset}`,
        {
          hint: 'distil the rows from this data set with splits: [train]',
        },
      );
    }
    if (row.prompt.hash !== prompt.hash) {
      throw new InputError(
        `${config.rows} answers prompt ${row.prompt.id} (${row.prompt.hash.slice(0, 12)}), the configuration asks ${prompt.id} (${prompt.hash.slice(0, 12)})`,
        { hint: 'distil again, or set "prompt" to the one of the rows: training and asking must agree' },
      );
    }
    requireSameMos(row, train.records[image]!, config.rows);
    if (row.accepted) lessons.push({ row, image });
  }
  if (lessons.length === 0) throw new InputError(`${config.rows} holds no accepted row`);
  return lessons;
}

interface LossContext {
  model: VisionLanguageModel;
  trained: ReadonlyMap<string, tf.Variable>;
  prompt: RenderedPrompt;
  /** Score head; empty for none. */
  head: ReadonlyMap<string, tf.Variable>;
  config: ColdStartConfig;
  /** Of the pictures of the batch, where the tower does not change. */
  features: ImageFeatures | undefined;
  rng: Rng;
}

/**
 * Cross entropy of each micro-batch over the response tokens of the whole batch, plus the loss of the score head
 * where there is one.
 */
function responseLosses(
  { model, trained, prompt, head, config, features, rng }: LossContext,
  lessons: readonly { row: ColdStartRow; image: ProcessedImage }[],
): (() => MicroLoss)[] {
  const { scoreHeadWeight } = config;
  const checkpointing = config.gradientCheckpointing ? checkpointingOf(trained) : undefined;
  const { tokenizer } = model;
  const end = tokenizer.endOfSequenceIds[0]!;
  const sequences = lessons.map(({ row, image }) => {
    const content = [{ type: 'image' as const }, { type: 'text' as const, text: prompt.text }];
    const question = promptSequence(model, [{ role: 'user', content }], [image]);
    return appendTokens(question, [...encodeText(tokenizer, row.response), end], 'action');
  });
  const scoreOf = new Map(lessons.map(({ row, image }) => [image, row.score!]));
  const parts = bucketed(sequences, config.batch.microBatch).map((part) => collate(part, model.config));
  const tokens = parts.reduce((sum, part) => sum + part.actions.count, 0);
  return parts.map((batch, i) => () => {
    const network = { ...model, parameters: droppingOut(model.parameters, rng.fork('dropout', i)) };
    const imageEmbeddings =
      features === undefined
        ? encodeImages(network, batch.images, checkpointing)!
        : batchFeatures(batch.images, features)!;
    const { sum } = crossEntropy(network, batch, { imageEmbeddings, checkpointing });
    const text = tf.mul(sum, changingScalars({ perToken: 1 / tokens }).perToken) as tf.Scalar;
    if (head.size === 0) return { loss: text };
    const perImage = scoreHeadWeight / lessons.length;
    const told = scoreHeadLoss(head, imageEmbeddings, batch.images, scoreOf, perImage);
    return { loss: tf.add(text, told) as tf.Scalar, metrics: { textLoss: text, scoreHeadLoss: told } };
  });
}
