import { ConfigError, Rng, silentProgress } from '../core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../data/index.ts';
import { createIqaRubric, createRewardTerms } from '../env/index.ts';
import { openRun } from '../formats/index.ts';
import { baseOf, disposeParameters, loadModel, loadModelFormat } from '../model/index.ts';
import {
  DifficultySampler,
  NonFiniteGuard,
  RewardFailureGuard,
  synchronisesAfter,
  type WatchdogEvent,
  Watchdogs,
} from '../rl/index.ts';
import type { ColdStartRow } from '../teacher/index.ts';
import { adapt, pictureFeaturesOf, trainedParameters } from './adapt.ts';
import { AlgorithmControl } from './algorithm-control.ts';
import { openBlind } from './blind/index.ts';
import { restoreStage, saveStage } from './checkpointing.ts';
import { Clock } from './clock.ts';
import { createCritic, criticRates, estimateValues, startAtMean } from './critic/index.ts';
import { createRolloutEngine } from './engines/index.ts';
import { type Examples, loadExamples } from './examples.ts';
import { exportBest } from './export-best.ts';
import { fitToProcessor } from './fit-picture.ts';
import { greedyRewards } from './greedy-rewards.ts';
import { collectGroups } from './group-collector.ts';
import type { GrpoConfig } from './grpo.config.ts';
import { hashInputs, hashRewardFiles } from './inputs.ts';
import { PartialRollouts } from './partial-rollouts.ts';
import { judgeRollouts, rewardPenalty, unjudged } from './policy-samples.ts';
import { policyUpdates } from './policy-updates.ts';
import { PromptSource } from './prompt-source.ts';
import { movingVariables, openReference, synchronise } from './reference.ts';
import { policySamplesOf, Replay } from './replay.ts';
import { rewardMetrics } from './reward-metrics.ts';
import { demonstrationsOf, targetsOf, taughtRows } from './rewarded-images.ts';
import { rollBackTarget, stoppedBy, worstOf } from './roll-back.ts';
import type { Rewarder, RolloutSample } from './rollouts.ts';
import { learningRateOf } from './schedule.ts';
import { RESULT_NEUTRAL_KEYS } from './settings.ts';
import type { StageOptions, StageResult } from './stage.ts';
import { traineeOf } from './trainee.ts';
import { trainingImagesOf } from './training-images.ts';
import { describeValidation, noteFewImages, requireScores, selectionValue, validate } from './validation.ts';

/** Variable that holds the key of a server that samples. */
const ROLLOUT_KEY = 'QPONDER_ROLLOUT_API_KEY';

/**
 * Stage 2: GRPO (arXiv 2402.03300) on the reward of `env/iqa`, which joins scoring accuracy and reasoning
 * consistency as Q-Ponder does (arXiv 2506.05384; its formulas are unpublished, ours are a reconstruction).
 *
 * Each step: G completions of each prompt are sampled, rewarded, turned into advantages, and the policy takes one
 * or more steps on them. Tokens go in as they came out. A watchdog may send the run back to an older checkpoint,
 * from where it draws anew.
 */
export async function trainGrpo(config: GrpoConfig, options: StageOptions = {}): Promise<StageResult> {
  requireNoDropout(config);
  for (;;) {
    const result = await trainUntilRollBack(config, options);
    if (result !== 'rolled back') return result;
  }
}

async function trainUntilRollBack(
  config: GrpoConfig,
  options: StageOptions,
): Promise<StageResult | 'rolled back'> {
  const progress = options.progress ?? silentProgress;
  const note = (line: string): void => progress.note(line);
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
  const taught =
    config.teacherRows === null
      ? new Map<string, ColdStartRow>()
      : await taughtRows(train, config.teacherRows, config.dataset);
  const rng = new Rng(config.seed).fork('grpo');
  const model = await loadModel(config.model);
  const isNew = model.parameters.adapter === undefined;
  adapt(model, config.lora, rng);
  const control = new AlgorithmControl(config);
  const { kl, freeze, curriculum } = config;
  const reference =
    control.klCoefficient > 0 ? await openReference(model, { kl, start: config.model, isNew, freeze }) : null;
  const blind = await openBlind(config, model, { isNew, reference });
  const trained = trainedParameters(model, freeze, note);
  const critic =
    config.advantage.kind === 'gae'
      ? createCritic(model.config.text.hiddenSize, config.critic, rng.fork('critic'))
      : null;
  const trainee =
    critic === null
      ? traineeOf(trained, config.optimizer)
      : traineeOf(new Map([...trained, ...critic.variables]), config.optimizer, criticRates(critic));
  const extra = new Map([...movingVariables(reference), ...(critic?.variables ?? [])]);
  const cache = pictureFeaturesOf(model, trained, config.pictureCache);
  const difficulty =
    config.difficulty.kind === 'off'
      ? null
      : new DifficultySampler(
          config.difficulty,
          train.records.map((_, record) => String(record)),
        );
  requireEnoughPictures(config, train.records.length);
  const targets = targetsOf(train, taught);
  const demonstrations =
    curriculum.kind === 'off'
      ? new Map()
      : demonstrationsOf(train, taught, model, { by: curriculum.by, path: config.teacherRows! });
  const replay = config.replay.kind === 'off' ? null : new Replay(config.replay);
  const partial =
    config.partialRollouts === null
      ? null
      : { rollouts: new PartialRollouts(config.maxNewTokens), ...config.partialRollouts };
  const watchdogs = new Watchdogs(config.watchdogs);
  const rubric = createIqaRubric(
    config.rubric,
    blind === null ? {} : { expectedScore: (reasoning) => blind.scorer.expectedScore(reasoning) },
  );
  const terms = await createRewardTerms(config.rewards, {
    environment: options.environment,
    pictureUrl: options.pictureUrl,
    note,
  });
  const engine = createRolloutEngine(config.engine, {
    apiKey: options.environment?.[ROLLOUT_KEY],
    note,
  });
  const rewarder: Rewarder = {
    rubric,
    terms,
    blind: blind?.scorer ?? null,
    truncated: config.truncated,
    text: prompt.text,
    dataset: config.dataset,
    train,
    model,
  };
  const run = await openRun(config.run, {
    config,
    stage: 'grpo',
    inputs: {
      ...(await hashInputs({ ...config, seen, weights: true, rows: config.teacherRows, prompt })),
      ...(await hashRewardFiles(config.rewards)),
      ...(blind === null ? {} : { blindPrompt: blind.prompt.hash }),
    },
    keepCheckpoints: config.keepCheckpoints,
    mayDiffer: RESULT_NEUTRAL_KEYS,
    tensorboard: config.tensorboard,
    note,
  }).catch(async (error: unknown) => {
    await terms.close();
    throw error;
  });
  try {
    // A run that went back draws anew: the same draws would lead to the same place.
    const draws = run.rollBacks === 0 ? rng : rng.fork('roll-back', run.rollBacks);
    const source = new PromptSource({
      model,
      text: prompt.text,
      train,
      targets,
      flip: config.flip,
      cache,
      difficulty,
      curriculum: curriculum.kind === 'off' ? curriculum : { ...curriculum, wrongAnswer: 0 },
      demonstrations,
      totalSteps: config.steps,
      rng,
    });
    const guard = new NonFiniteGuard(config.guards.maxNonFiniteInRow);
    const failures = new RewardFailureGuard({ limit: config.maxMissingRewardShare });
    let start = 0;
    if (run.resumedFrom !== null) {
      const { state, restoreOptimizer } = await restoreStage(run.resumedFrom.folder, model, extra);
      restoreOptimizer(trainee.optimizer);
      guard.restore(state.guard);
      if (state.control !== undefined) control.restore(state.control);
      if (state.watchdogs !== undefined) watchdogs.restore(state.watchdogs);
      if (state.difficulty !== undefined) difficulty?.restore(state.difficulty);
      if (state.replay !== undefined) replay?.restore(state.replay, source);
      if (state.unfinished !== undefined) partial?.rollouts.restore(state.unfinished, source);
      start = state.step;
    }
    const logEvent = (step: number, { step: _, ...row }: WatchdogEvent): void => run.event(step, row);
    const watch = async (step: number, values: Record<string, number>): Promise<WatchdogEvent | null> => {
      const events = watchdogs.observe(step, values, await run.checkpointSteps());
      for (const event of events) {
        logEvent(step, event);
        note(`${event.action === 'warn' ? 'warning' : event.action}, step ${step}: ${event.message}`);
      }
      return worstOf(events);
    };
    const measure = async (
      step: number,
    ): Promise<{ best: { metric: string; value: number } | undefined; event: WatchdogEvent | null }> => {
      const values = await validate(model, prompt, validation, config);
      run.metrics(step, values);
      note(`step ${step}: ${describeValidation(values)}`);
      const event = step === 0 ? null : await watch(step, values);
      const value = selectionValue(values, validation.records.length);
      const isBest = value !== null && value > (run.best?.value ?? Number.NEGATIVE_INFINITY);
      return { best: isBest ? { metric: 'validation/(srcc+plcc)/2', value } : undefined, event };
    };
    const save = (step: number, best: { metric: string; value: number } | undefined) =>
      run.saveCheckpoint(
        step,
        (folder) =>
          saveStage(
            folder,
            model,
            trainee.optimizer,
            {
              step,
              guard: guard.state(),
              control: control.state(),
              watchdogs: watchdogs.state(),
              ...(difficulty === null ? {} : { difficulty: difficulty.state() }),
              ...(replay === null ? {} : { replay: replay.state() }),
              ...(partial === null ? {} : { unfinished: partial.rollouts.state() }),
            },
            extra,
            { stage: 'grpo', prompt: prompt.hash },
          ),
        best,
      );

    progress.start('GRPO', config.steps);
    progress.update(start);
    // The cold start itself is a candidate: a stage that only harms ends where it began.
    if (run.resumedFrom === null) await save(0, (await measure(0)).best);
    for (let step = start; step < config.steps; step++) {
      const done = step + 1;
      const clock = new Clock();
      const draw = draws.fork('step', step);
      await clock.timed('rollout', () => engine.synchronise(model, step));
      const collected = await collectGroups(
        { ...config, model, engine, source, rewarder, cache, difficulty, partial, timed: clock.timed },
        step,
        draw,
      );
      const { samples, all } = collected;
      failures.observe({
        missing: all.filter(({ reward }) => reward.status === 'missing').length,
        total: all.length,
        reasons: all.flatMap(({ reward }) => (reward.status === 'missing' ? [reward.reason] : [])),
      });
      if (critic !== null && trainee.optimizer.stepCount === 0) {
        startAtMean(
          critic,
          samples.map(({ reward }) => reward),
        );
      }
      const penalty =
        reference === null || kl.place === 'loss'
          ? null
          : await clock.timed('reward', () =>
              rewardPenalty(samples, reference.model, cache, {
                ...config,
                coefficient: control.klCoefficient,
              }),
            );
      const judged = judgeRollouts(samples, {
        config,
        weights: { rubric: rubric.weights, extra: terms.weightsAt(step) },
        truncated: config.truncated,
        penalty,
        greedyRewards:
          config.advantage.kind === 'remax'
            ? await clock.timed('rollout', () =>
                greedyRewards(
                  { model, rewarder, cache, maxNewTokens: config.maxNewTokens },
                  samples,
                  step,
                  draw,
                ),
              )
            : null,
        values:
          critic === null
            ? null
            : await clock.timed('update', async () =>
                estimateValues(critic, model, unjudged(samples), {
                  features: await cache?.of(samples.map(({ prompt: { picture } }) => picture)),
                  microBatch: config.microBatch,
                }),
              ),
      });
      // The loss has no KL then, so its measurement is the penalty's.
      if (penalty !== null) control.observe({ kl: penalty.meanKl }, samples.length);
      const values: Record<string, number> = {
        ...rewardMetrics(all),
        ...judged.metrics,
        ...collected.metrics,
      };
      const exchanged = replay?.exchange(judged.groups, {
        wanted: config.promptsPerStep,
        version: step,
        rng: draw.fork('replay'),
      });
      Object.assign(values, exchanged?.metrics);
      const groups = exchanged?.groups ?? judged.groups;
      const learnt = policySamplesOf(groups, step);
      values['samples/trained'] = learnt.length;
      if (learnt.length > 0) {
        const learningRate = learningRateOf(config.optimizer, config.steps, step);
        const result = await clock.timed('update', async () =>
          policyUpdates({
            model,
            reference: kl.place === 'loss' ? (reference?.model ?? null) : null,
            trainee,
            critic,
            samples: learnt,
            learningRate,
            config,
            control,
            step,
            rng: draw.fork('update'),
            features: await cache?.of(groups.map(({ prompt: { picture } }) => picture)),
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
      const { steady, timings } = clock.split(values, all);
      run.metrics(done, steady);
      run.timings(done, timings);
      for (const sample of all.slice(0, config.groupSize)) run.sample(done, sampleRow(sample, train));
      progress.update(done, {
        reward: values['reward/mean']?.toFixed(3) ?? 'none',
        accuracy: values['reward/accuracy/mean']?.toFixed(3) ?? 'none',
      });

      const last = done === config.steps;
      const stop = options.signal?.aborted === true && !last;
      const barked = await watch(done, steady);
      const measured = done % config.validateEvery === 0 || last ? await measure(done) : null;
      const event = worstOf([barked, measured?.event ?? null].filter((one) => one !== null));
      const target =
        event === null
          ? null
          : rollBackTarget(event, { rollBacks: run.rollBacks, most: config.maxRollBacks });
      if (target !== null) {
        const { step: from, ...row } = event!;
        await run.rollBack({ from, to: target }, row);
        return 'rolled back';
      }
      const ends = event?.action === 'stop';
      if (done % config.checkpointEvery === 0 || measured?.best !== undefined || last || stop || ends) {
        await save(done, measured?.best);
      }
      if (ends) throw stoppedBy(event!);
      if (stop) throw options.signal?.reason;
    }
    progress.stop();
    return await exportBest(run, config.run, { stage: 'grpo', prompt: prompt.hash }, seen, baseOf(model));
  } finally {
    trainee.optimizer.dispose();
    cache?.dispose();
    disposeParameters(model.parameters);
    reference?.dispose();
    blind?.dispose();
    for (const variable of critic?.variables.values() ?? []) variable.dispose();
    await terms.close();
    await engine.close();
    await run.close();
  }
}

function requireNoDropout({ lora }: GrpoConfig): void {
  if (lora === null || lora.dropout === 0) return;
  throw new ConfigError(`lora.dropout is ${lora.dropout}, allowed is 0`, {
    hint: 'the sampler drops nothing: with dropout the trainer would score its tokens under another policy',
  });
}

/** Epochs go round as often as a step wants; a draw by difficulty takes no picture twice in a step. */
function requireEnoughPictures({ difficulty, promptsPerStep }: GrpoConfig, pictures: number): void {
  if (difficulty.kind === 'off' || promptsPerStep <= pictures) return;
  throw new ConfigError(
    `promptsPerStep is ${promptsPerStep}, allowed are at most the ${pictures} pictures of the train split: difficulty draws each once in a step`,
    { hint: 'lower promptsPerStep, or set difficulty.kind=off, which goes round in epochs' },
  );
}

/** A row of samples.jsonl. */
const sampleRow = (
  { prompt: { place, target, given }, completion, parts, extra, reward }: RolloutSample,
  train: Examples,
) => ({
  image: train.records[place.record]!.id,
  mos: target.mos,
  ...(given === null ? {} : { given: given.start }),
  text: completion.text,
  finishReason: completion.finishReason,
  terms: { ...parts.terms, ...extra },
  total: reward,
});
