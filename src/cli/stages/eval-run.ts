import { z } from 'zod';
import { ConfigError, InterruptedError, RemoteError, type RemoteReason } from '../../core/index.ts';
import { SPLITS } from '../../data/index.ts';
import {
  BASELINES,
  type EvaluationPlan,
  loadSuite,
  planSuite,
  type Reading,
  runSuite,
  type Suite,
  suiteText,
} from '../../evaluate/index.ts';
import { SCORING_MODES } from '../../scoring/index.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage, StageContext } from '../stage-command.ts';
import { evaluatedModels, serverSettings } from './eval-models.ts';
import { summaryTable } from './summary-table.ts';

export const evalRunConfigSchema = z.strictObject({
  model: z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(z.string().min(1)))
    .default([])
    .describe('checkpoint folders, or addresses of OpenAI-compatible servers (http://...)'),
  suite: z.string().min(1).nullable().default(null).describe('name of a suite, or a YAML file of one'),
  dataset: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('data set folder; with a suite, the folder that holds its data sets'),
  datasets: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('with a suite: folders of single data sets by name'),
  skipMissing: z.boolean().default(false).describe('with a suite: leave out data sets that are not there'),
  splits: z.array(z.enum(SPLITS)).min(1).default(['test']).describe('without a suite'),
  mode: z.enum(SCORING_MODES).default('greedy').describe('without a suite: how the score is read'),
  samples: z.int().positive().default(1).describe('mode sampled, without a suite: answers for each image'),
  baselines: z
    .boolean()
    .default(false)
    .describe('measure the baselines too; they are fitted on the train split'),
  allowLeakage: z.boolean().default(false).describe('measure on images that the model has seen'),
  prompt: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('shipped prompt for checkpoints; by default the suite’s, or student/quality.v1'),
  temperature: z.number().positive().default(1).describe('mode sampled only'),
  topP: z.number().positive().max(1).default(1).describe('mode sampled only'),
  seed: z.int().min(0).default(0),
  maxNewTokens: z.int().positive().default(96),
  batchSize: z.int().positive().default(64).describe('images per forward pass and in memory at a time'),
  resamples: z.int().min(100).default(1000).describe('bootstrap resamples'),
  server: serverSettings,
  output: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('folder for predictions.jsonl and summary.json; an interrupted run continues there'),
});
export type EvalRunConfig = z.infer<typeof evalRunConfigSchema>;

export const evalRunStage: Stage<EvalRunConfig> = {
  schema: evalRunConfigSchema,
  async run(config, context) {
    try {
      await evaluate(config, context);
    } catch (error) {
      if (!(error instanceof InterruptedError) || config.output !== null) throw error;
      throw new InterruptedError(error.message, {
        hint: 'without --out nothing is kept: given again, the command starts from the beginning',
      });
    }
  },
};

async function evaluate(config: EvalRunConfig, context: StageContext): Promise<void> {
  const suite = config.suite === null ? null : await loadSuite(config.suite);
  if (config.model.length === 0 && !config.baselines) {
    throw new ConfigError('there is no model to evaluate', {
      hint: 'give --model <checkpoint folder or http address>, or --baselines',
    });
  }
  const plan = suite === null ? planWithoutSuite(config) : await planOf(suite, config, context);
  const prompt = config.prompt ?? suite?.prompt ?? 'student/quality.v1';
  const models = await evaluatedModels({ ...config, prompt }, context);
  const alone = suite === null && models.length <= 1;
  const notAsked = new Map<RemoteReason, number>();
  let firstFailure: string | null = null;
  const rows = await runSuite({
    plan,
    models,
    output: config.output,
    folderOf: (model, entry, reading) =>
      alone && model !== 'baselines' ? `${entry}-${reading}` : `${model}/${entry}-${reading}`,
    allowLeakage: config.allowLeakage,
    codeVersion: packageInfo().version,
    config,
    resamples: config.resamples,
    seed: config.seed,
    progress: context.progress,
    signal: context.signal,
    onResult: ({ kind, model, entry, reading, summary, folder, failed, firstFailure: said }) => {
      if (kind === 'model') {
        const title = `${entry.id}, ${reading}`;
        context.print(summaryTable(alone ? title : `${model}: ${title}`, summary));
        if (folder !== null) context.print(`  written to ${folder}`);
      }
      firstFailure ??= said;
      for (const [reason, count] of Object.entries(failed) as [RemoteReason, number][]) {
        context.print(`  ${count} image(s) could not be asked (${reason}) and are missing above`);
        notAsked.set(reason, (notAsked.get(reason) ?? 0) + count);
      }
    },
  });
  if (!alone || plan.baselines.length > 0) context.print(suiteText(rows, plan));
  refuseUnasked(notAsked, firstFailure, config.output !== null);
}

/** Figures over a part of a split must not pass for figures over all of it. */
function refuseUnasked(
  notAsked: ReadonlyMap<RemoteReason, number>,
  firstFailure: string | null,
  kept: boolean,
): void {
  const [[reason] = []] = notAsked;
  if (reason === undefined) return;
  const total = [...notAsked.values()].reduce((sum, count) => sum + count, 0);
  throw new RemoteError(
    `${total} image(s) could not be asked: ${[...notAsked.keys()].join(', ')}${firstFailure === null ? '' : `; the first: ${firstFailure}`}`,
    {
      reason,
      hint: kept
        ? 'the same command asks about these alone'
        : 'with --out, the same command would ask about these alone',
    },
  );
}

/** Readings as they are recorded: what is drawn matters to `sampled` alone. */
function readingOf(
  { mode, ...own }: Suite['readings'][number],
  { temperature, topP, seed, samples, batchSize, maxNewTokens }: EvalRunConfig,
): Reading {
  if (mode !== 'sampled') return { mode, maxNewTokens };
  return { mode, maxNewTokens, temperature, topP, seed, samples, batchSize, ...own };
}

async function planOf(
  suite: Suite,
  config: EvalRunConfig,
  { progress }: StageContext,
): Promise<EvaluationPlan> {
  const folders = { root: config.dataset, byName: config.datasets, skipMissing: config.skipMissing };
  const readings = suite.readings.map((reading) => readingOf(reading, config));
  const plan = await planSuite(suite, folders, readings, (line) => progress.note(line));
  return config.baselines ? plan : { ...plan, baselines: [] };
}

function planWithoutSuite(config: EvalRunConfig): EvaluationPlan {
  const { dataset, mode, samples, splits } = config;
  if (dataset === null) {
    throw new ConfigError('dataset is missing: give --data <folder>', {
      hint: 'or a --suite with the folder of its data sets',
    });
  }
  if (samples > 1 && mode !== 'sampled') {
    throw new ConfigError(`samples is ${samples} and the mode ${mode}: only sampled draws several answers`);
  }
  return {
    suite: null,
    title: dataset,
    entries: splits.map((split) => ({ id: split, title: split, folder: dataset, split })),
    readings: [readingOf({ mode }, config)],
    metrics: ['srcc', 'plcc', 'krcc', 'rmse'],
    train: { folder: dataset, split: 'train' },
    baselines: config.baselines ? BASELINES : [],
    quoted: [],
  };
}
