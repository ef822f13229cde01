import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { asStorageError, InputError, readAllJsonl, textIfPresent } from '../../core/index.ts';
import { COLD_START_PANELS, GRPO_PANELS, type PanelId } from './panels.ts';
import type { EventRow, MetricRow, RolloutRow, StageReport } from './report-data.ts';

const metricRowSchema = z
  .looseObject({ step: z.number() })
  .transform(
    (row): MetricRow =>
      Object.fromEntries(
        Object.entries(row).filter(([, value]) => value === null || typeof value === 'number'),
      ) as MetricRow,
  );

const rewardSchema = z.union([
  z.object({ status: z.literal('ok'), value: z.number() }),
  z.object({ status: z.literal('missing'), reason: z.string() }),
]);

const rolloutSchema = z.object({
  step: z.number(),
  image: z.string(),
  mos: z.number(),
  text: z.string(),
  finishReason: z.enum(['stop', 'length']),
  terms: z.record(z.string(), rewardSchema),
  total: rewardSchema,
});

const eventSchema = z.object({
  step: z.number(),
  message: z.string(),
  metrics: z.array(z.string()).optional(),
  watchdog: z.string().optional(),
  action: z.string().optional(),
});

const runSchema = z.looseObject({
  stage: z.string(),
  config: z.record(z.string(), z.unknown()),
});

/** Titles and expected curves of the stages, in the order in which they are trained; others show what they logged. */
const STAGES: Readonly<Record<string, { title: string; expects: readonly PanelId[] }>> = {
  base: { title: 'Base', expects: ['loss'] },
  'cold-start': { title: 'Cold start', expects: COLD_START_PANELS },
  grpo: { title: 'GRPO', expects: GRPO_PANELS },
};

export interface LoadedStage {
  stage: StageReport;
  /** Place in the order in which stages are trained. */
  order: number;
  /** Data set folder it was trained on. */
  dataset?: string;
}

/** A training run's curves, settings and sampled answers. */
export async function loadStage(run: string): Promise<LoadedStage> {
  const { stage, config } = await readRun(join(run, 'config.json'));
  const rows = await readAllJsonl(join(run, 'metrics.jsonl'), metricRowSchema);
  const known = STAGES[stage];
  const order = Object.keys(STAGES).indexOf(stage);
  // Only GRPO logs completions with rewards; other stages leave this file empty or fill it otherwise.
  const rollouts = stage === 'grpo' ? await readAllJsonl(join(run, 'samples.jsonl'), rolloutSchema) : [];
  const events = await readEvents(join(run, 'events.jsonl'));
  return {
    stage: {
      name: `${known?.title ?? stage} (${basename(run)})`,
      rows,
      expects: known?.expects ?? [],
      configuration: config,
      ...(rollouts.length === 0 ? {} : { rollouts: rollouts as RolloutRow[] }),
      ...(events.length === 0 ? {} : { events }),
    },
    order: order < 0 ? Object.keys(STAGES).length : order,
    ...(typeof config.dataset === 'string' ? { dataset: config.dataset } : {}),
  };
}

/** Runs of earlier versions have no such file. */
async function readEvents(path: string): Promise<EventRow[]> {
  return (await textIfPresent(path)) === null ? [] : readAllJsonl(path, eventSchema);
}

async function readRun(path: string): Promise<z.infer<typeof runSchema>> {
  try {
    return runSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      throw new InputError(`${path} is not the configuration of a run`, {
        hint: 'leave its folder out',
        cause: error,
      });
    }
    throw asStorageError(error, `reading ${path}`);
  }
}
