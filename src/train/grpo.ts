import {
  ConfigError,
  InputError,
  type RewardValue,
  Rng,
  readAllJsonl,
  silentProgress,
} from '../core/index.ts';
import {
  distortionsNamed,
  loadShippedPrompt,
  type NamedDistortion,
  type RenderedPrompt,
  renderPrompt,
} from '../data/index.ts';
import { createIqaRubric, type IqaRubric, type IqaTarget } from '../env/index.ts';
import { openRun } from '../formats/index.ts';
import {
  disposeParameters,
  type ImageFeatures,
  loadModel,
  loadModelFormat,
  type ProcessedImage,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import { NonFiniteGuard, RewardFailureGuard, synchronisesAfter } from '../rl/index.ts';
import { coldStartRowSchema } from '../teacher/index.ts';
import { adapt, pictureFeaturesOf, trainedParameters } from './adapt.ts';
import { AlgorithmControl } from './algorithm-control.ts';
import { restoreStage, saveStage } from './checkpointing.ts';
import { DataOrder } from './data-order.ts';
import { type Examples, loadExamples } from './examples.ts';
import { exportBest } from './export-best.ts';
import { fitToProcessor } from './fit-picture.ts';
import type { GrpoConfig } from './grpo.config.ts';
import { hashInputs } from './inputs.ts';
import { trainingPicture } from './pictures.ts';
import { judgeRollouts, rewardPenalty } from './policy-samples.ts';
import { policyUpdates } from './policy-updates.ts';
import { movingVariables, openReference, synchronise } from './reference.ts';
import { rewardMetrics } from './reward-metrics.ts';
import { type RolloutPrompt, rewardGroups, sampleGroups } from './rollouts.ts';
import { learningRateOf } from './schedule.ts';
import { RESULT_NEUTRAL_KEYS } from './settings.ts';
import type { StageOptions, StageResult } from './stage.ts';
import { requireSameMos } from './teacher-scores.ts';
import { traineeOf } from './trainee.ts';
import { trainingImagesOf } from './training-images.ts';
import {
  describeValidation,
  noteFewImages,
  requireMos,
  requireScores,
  selectionValue,
  validate,
} from './validation.ts';

/**
 * Stage 2: GRPO (arXiv 2402.03300) on the reward of `env/iqa`, which joins scoring accuracy and reasoning
 * consistency as Q-Ponder does (arXiv 2506.05384; its formulas are unpublished, ours are a reconstruction).
 *
 * Each step: G completions of each prompt are sampled, rewarded, turned into group advantages, and the policy
 * takes one or more clipped steps on them with a k3 KL to the cold start. Tokens go in as they came out.
 */
export async function trainGrpo(config: GrpoConfig, options: StageOptions = {}): Promise<StageResult> {
  requireNoDropout(config);
  const progress = options.progress ?? silentProgress;
  const rng = new Rng(config.seed).fork('grpo');
  const prompt = renderPrompt(await loadShippedPrompt(config.prompt));
  const prepare = fitToProcessor((await loadModelFormat(config.model)).processor);
  const train = await loadExamples(config.dataset, 'train', progress, { prepare });
  const validation = await loadExamples(config.dataset, 'validation', progress, {
    prepare,
    limit: config.validationImages,
  });
  requireScores(validation);
  noteFewImages(validation, progress);
  const seen = await trainingImagesOf({
    stage: 'grpo',
    start: config.model,
    dataset: config.dataset,
    train: train.records,
    validation: validation.records,
  });
  const targets = await targetsOf(train, config);
  const rubric = createIqaRubric(config.rubric);
  const model = await loadModel(config.model);
  const isNew = model.parameters.adapter === undefined;
  adapt(model, config.lora, rng);
  const control = new AlgorithmControl(config);
  const { kl, freeze } = config;
  const reference =
    control.klCoefficient > 0 ? await openReference(model, { kl, start: config.model, isNew, freeze }) : null;
  const trained = trainedParameters(model, config.freeze);
  const trainee = traineeOf(trained, config.optimizer);
  const cache = pictureFeaturesOf(model, trained, config.pictureCache);
  const run = await openRun(config.run, {
    config,
    stage: 'grpo',
    inputs: await hashInputs({ ...config, seen, weights: true, rows: config.teacherRows, prompt }),
    keepCheckpoints: config.keepCheckpoints,
    mayDiffer: RESULT_NEUTRAL_KEYS,
    note: (line) => progress.note(line),
  });
  try {
    const guard = new NonFiniteGuard(config.guards.maxNonFiniteInRow);
    const failures = new RewardFailureGuard({ limit: config.maxMissingRewardShare });
    let start = 0;
    if (run.resumedFrom !== null) {
      const { state, restoreOptimizer } = await restoreStage(
        run.resumedFrom.folder,
        model,
        movingVariables(reference),
      );
      restoreOptimizer(trainee.optimizer);
      guard.restore(state.guard);
      if (state.control !== undefined) control.restore(state.control);
      start = state.step;
    }
    const order = new DataOrder(rng.fork('order'), train.records.length);
    const measure = async (step: number): Promise<{ metric: string; value: number } | undefined> => {
      const values = await validate(model, prompt, validation, config);
      run.metrics(step, values);
      progress.note(`step ${step}: ${describeValidation(values)}`);
      const value = selectionValue(values, validation.records.length);
      if (value === null || value <= (run.best?.value ?? Number.NEGATIVE_INFINITY)) return undefined;
      return { metric: 'validation/(srcc+plcc)/2', value };
    };
    const save = (step: number, best: { metric: string; value: number } | undefined) =>
      run.saveCheckpoint(
        step,
        (folder) =>
          saveStage(
            folder,
            model,
            trainee.optimizer,
            { step, guard: guard.state(), control: control.state() },
            movingVariables(reference),
            { stage: 'grpo', prompt: prompt.hash },
          ),
        best,
      );

    progress.start('GRPO', config.steps);
    progress.update(start);
    // The cold start itself is a candidate: a stage that only harms ends where it began.
    if (run.resumedFrom === null) await save(0, await measure(0));
    for (let step = start; step < config.steps; step++) {
      const done = step + 1;
      const clock = new Map<string, number>();
      const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        const began = performance.now();
        const result = await work();
        clock.set(name, (clock.get(name) ?? 0) + (performance.now() - began) / 1000);
        return result;
      };

      const draw = rng.fork('step', step);
      const chosen = order.batch(step, config.promptsPerStep);
      const pictures = chosen.map(
        (index) =>
          cache?.picture(index, train.images[index]!, config.flip, draw) ??
          trainingPicture(train.images[index]!, config.flip, model.processor, draw),
      );
      const prompts = pictures.map((picture, i): RolloutPrompt => {
        const record = chosen[i]!;
        return { sequence: question(model, prompt, picture), record, target: targets[record]! };
      });
      const features = await timed('rollout', async () => cache?.of(pictures));
      const groups = await timed('rollout', () =>
        sampleGroups(model, prompts, config, draw.fork('rollout'), features),
      );
      const samples = await timed('reward', async () => rewardGroups(rubric, prompts, groups, config));
      const rewards = samples.map(({ reward }) => reward);
      failures.observe({
        missing: rewards.filter(({ status }) => status === 'missing').length,
        total: rewards.length,
        reasons: rewards.flatMap((reward) => (reward.status === 'missing' ? [reward.reason] : [])),
      });
      const judged = judgeRollouts(samples, {
        config,
        weights: rubric.weights,
        truncated: config.truncated,
        penalty:
          reference === null || kl.place === 'loss'
            ? null
            : await timed('reward', () =>
                rewardPenalty(samples, reference.model, features ?? null, {
                  ...config,
                  coefficient: control.klCoefficient,
                }),
              ),
        greedyRewards:
          config.advantage.kind === 'remax'
            ? await timed('rollout', () => greedyRewards(model, rubric, prompts, config, draw, features))
            : null,
      });
      const values: Record<string, number> = { ...rewardMetrics(samples, targets), ...judged.metrics };
      if (judged.kept.length > 0) {
        const learningRate = learningRateOf(config.optimizer, config.steps, step);
        const result = await timed('update', () =>
          policyUpdates({
            model,
            reference: kl.place === 'loss' ? (reference?.model ?? null) : null,
            trainee,
            samples: judged.kept,
            learningRate,
            config,
            control,
            step,
            rng: draw.fork('update'),
            features,
          }),
        );
        for (const applied of result.applied) guard.observe(applied, step);
        Object.assign(values, result.metrics, { learningRate });
      }
      if (
        reference !== null &&
        kl.reference.kind === 'synchronised' &&
        synchronisesAfter(kl.reference, done)
      ) {
        synchronise(reference, trained, kl.reference.mix);
      }
      run.metrics(done, values);
      run.timings(done, Object.fromEntries(clock));
      for (const { completion, record, parts } of samples.slice(0, config.groupSize)) {
        run.sample(done, {
          image: train.records[record]!.id,
          mos: targets[record]!.mos,
          text: completion.text,
          finishReason: completion.finishReason,
          terms: parts.terms,
          total: parts.total,
        });
      }
      progress.update(done, {
        reward: values['reward/mean']?.toFixed(3) ?? 'none',
        accuracy: values['reward/accuracy/mean']?.toFixed(3) ?? 'none',
      });

      const last = done === config.steps;
      const stop = options.signal?.aborted === true && !last;
      const best = done % config.validateEvery === 0 || last ? await measure(done) : undefined;
      if (done % config.checkpointEvery === 0 || best !== undefined || last || stop) await save(done, best);
      if (stop) throw options.signal?.reason;
    }
    progress.stop();
    return await exportBest(run, config.run, { stage: 'grpo', prompt: prompt.hash }, seen);
  } finally {
    trainee.optimizer.dispose();
    cache?.dispose();
    disposeParameters(model.parameters);
    reference?.dispose();
    await run.close();
  }
}

function requireNoDropout({ lora }: GrpoConfig): void {
  if (lora === null || lora.dropout === 0) return;
  throw new ConfigError(`lora.dropout is ${lora.dropout}, allowed is 0`, {
    hint: 'the sampler drops nothing: with dropout the trainer would score its tokens under another policy',
  });
}

function question(model: VisionLanguageModel, prompt: RenderedPrompt, image: ProcessedImage): Sequence {
  const content = [{ type: 'image' as const }, { type: 'text' as const, text: prompt.text }];
  return promptSequence(model, [{ role: 'user', content }], [image]);
}

/** Reward of the most probable answer to each prompt, once for each sample of its group. ReMax's baseline. */
async function greedyRewards(
  model: VisionLanguageModel,
  rubric: IqaRubric,
  prompts: readonly RolloutPrompt[],
  config: GrpoConfig,
  rng: Rng,
  features: ImageFeatures | undefined,
): Promise<RewardValue[]> {
  const settings = { groupSize: 1, maxNewTokens: config.maxNewTokens, temperature: 0 };
  const answers = await sampleGroups(model, prompts, settings, rng.fork('greedy'), features);
  return rewardGroups(rubric, prompts, answers, config).flatMap(({ reward }) =>
    new Array<RewardValue>(config.groupSize).fill(reward),
  );
}

/** What each training image is rewarded for: its MOS, and the distortions that its reasoning should name. */
async function targetsOf(train: Examples, config: GrpoConfig): Promise<IqaTarget[]> {
  const taught = new Map<string, NamedDistortion[]>();
  if (config.teacherRows !== null) {
    const recordOf = new Map(train.records.map((record) => [record.id, record]));
    for (const row of await readAllJsonl(config.teacherRows, coldStartRowSchema)) {
      const record = recordOf.get(row.id);
      if (record !== undefined) requireSameMos(row, record, config.teacherRows);
      if (row.accepted) taught.set(row.id, distortionsNamed(row.response));
    }
    if (taught.size === 0) throw new InputError(`${config.teacherRows} holds no accepted row`);
    if (!train.records.some(({ id }) => taught.has(id))) {
      throw new InputError(
        `${config.teacherRows} speaks of no image in the train split of ${config.dataset}`,
        { hint: 'distil the rows from this data set with splits: [train]' },
      );
    }
  }
  return train.records.map((record) => {
    const referenceDistortions = taught.get(record.id);
    return {
      dataset: record.dataset,
      mos: requireMos(record),
      ...(record.mosStd === null ? {} : { mosStd: record.mosStd }),
      ...(referenceDistortions === undefined ? {} : { referenceDistortions }),
    };
  });
}
