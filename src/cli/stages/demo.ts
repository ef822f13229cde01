import { access, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import {
  ConfigError,
  type PlainObject,
  readConfigFile,
  resolveConfig,
  writeFileAtomic,
  writeJsonl,
} from '../../core/index.ts';
import { loadDataset, loadPixels, synthesisConfigSchema, synthesize } from '../../data/index.ts';
import {
  type ComparisonReport,
  compare,
  loadStage,
  type ModelReport,
  type Prediction,
  predict,
  rolloutPictures,
  summarize,
  writeReport,
} from '../../evaluate/index.ts';
import { requireModelFolder } from '../../model/index.ts';
import { createScorer, type ScoreMode } from '../../scoring/index.ts';
import {
  baseConfigSchema,
  coldStartConfigSchema,
  grpoConfigSchema,
  trainBase,
  trainColdStart,
  trainGrpo,
} from '../../train/index.ts';
import { MINIATURE_FOLDER, PACKAGE_FOLDER } from '../package-folder.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage, StageContext } from '../stage-command.ts';
import { type DemoConfig, type DemoPlan, demoConfigSchema, LEAST_MINUTES, planFor } from './demo-plan.ts';
import { chosenStep, howToScore, keptColdStart, resultLines } from './demo-summary.ts';
import { distillConfigSchema, distillStage } from './distill.ts';
import { startFor } from './engine.ts';

const SPLIT_NAMES = { test: 'Held-out scenes', cross: 'Unseen distortions' } as const;
type DemoSplit = keyof typeof SPLIT_NAMES;
const MODES: readonly ScoreMode[] = ['greedy', 'sampled'];
const MODE_NAMES: Record<ScoreMode, string> = {
  greedy: 'greedy',
  sampled: 'one sample at T = 1',
  expected: 'expected score',
};

/** The main job end to end. Finished parts are kept, so the same command continues an interrupted one. */
export const demoStage: Stage<DemoConfig> = {
  schema: demoConfigSchema,
  async run(config, context) {
    const { progress, print } = context;
    const began = Date.now();
    const plan = planFor(config.minutes);
    const folder = (name: string): string => join(config.output, name);
    if (config.minutes < LEAST_MINUTES) {
      print(
        `note: --minutes ${config.minutes} is below ${LEAST_MINUTES}: too little will be learnt for the figures to mean anything`,
      );
    }
    const recipes = await stageRecipes(config, plan, folder('data'));
    // What is wrong with settings and paths is told now, not after minutes of making data.
    recipes.coldStart({ run: '-', model: '-', rows: '-' });
    recipes.grpo({ run: '-', model: '-', teacherRows: '-' });
    if (config.base !== null) await requireModelFolder(config.base);
    const engine = await startFor(context);

    const data = folder('data');
    const synthesis = synthesisConfigSchema.parse({ output: data, seed: config.seed, counts: plan.images });
    await once(data, 'dataset.json', synthesis, async () => {
      await synthesize(synthesis, context);
    });
    const teacher = folder('teacher');
    const distillation = distillConfigSchema.parse({
      dataset: data,
      output: teacher,
      oracle: { seed: config.seed },
    });
    await once(teacher, 'report.json', distillation, () =>
      distillStage.run(distillation, { ...context, print: (line) => progress.note(line) }),
    );
    const rows = join(teacher, 'accepted.jsonl');

    const start = await startingPoint(config, folder('base'), context);
    const ci = await trainColdStart(
      recipes.coldStart({ run: folder('q-ponder-ci'), model: start, rows }),
      context,
    );
    const ponder = await trainGrpo(
      recipes.grpo({ run: folder('q-ponder'), model: ci.model, teacherRows: rows }),
      context,
    );
    const kept = keptColdStart(ponder);

    const models: ModelReport[] = [];
    const predictions = new Map<string, Prediction[]>();
    for (const [name, model] of [
      ['Q-Ponder-CI', ci.model],
      ['Q-Ponder', ponder.model],
    ] as const) {
      models.push(await evaluateModel(name, model, data, config, context, predictions));
    }
    const comparisons: ComparisonReport[] = [];
    for (const split of Object.keys(SPLIT_NAMES) as DemoSplit[]) {
      for (const mode of MODES) {
        const label = `${SPLIT_NAMES[split]}, ${MODE_NAMES[mode]}`;
        const [before, after] = ['Q-Ponder-CI', 'Q-Ponder'].map(
          (name) => predictions.get(`${name}/${label}`)!,
        );
        const result = compare(before!, after!, { seed: config.seed });
        comparisons.push({ split: label, baseline: 'Q-Ponder-CI', candidate: 'Q-Ponder', result });
      }
    }
    const report = folder('report.html');
    await writeReport(report, {
      title: 'Q-Ponder: a miniature trained on this machine',
      subtitle: `${plan.images.train} training images, ${plan.coldStartSteps} cold-start steps, ${plan.grpoSteps} GRPO steps${kept === undefined ? '' : `. ${kept}`}`,
      createdAt: new Date().toISOString(),
      provenance: [
        { label: 'q-ponder', value: packageInfo().version },
        { label: 'seed', value: String(config.seed) },
        { label: 'engine', value: `${engine.runtime}, ${engine.threads} thread(s)` },
        {
          label: 'machine',
          value: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node ${process.version}`,
        },
        { label: 'started from', value: start },
        { label: 'cold start', value: chosenStep(ci, plan.coldStartSteps) },
        { label: 'GRPO', value: kept ?? chosenStep(ponder, plan.grpoSteps) },
      ],
      stages: [
        { ...(await loadStage(folder('q-ponder-ci'))).stage, name: 'Cold start (Q-Ponder-CI)' },
        { ...(await loadStage(folder('q-ponder'))).stage, name: 'GRPO (Q-Ponder)' },
      ],
      models,
      comparisons,
      picture: async ({ image }) => readFile(join(data, image)),
      rolloutPicture: await rolloutPictures([data]),
      contactSheet: await readFile(join(data, 'contact-sheet.png')),
    });
    for (const line of resultLines(models, comparisons)) print(line);
    if (kept !== undefined) print(kept);
    print(`report: ${report}`);
    print(howToScore(ponder.model, config.output));
    print(`took ${((Date.now() - began) / 60_000).toFixed(1)} minutes`);
  },
};

/** The configurations of both stages, but for the paths that earlier parts decide. */
async function stageRecipes(config: DemoConfig, plan: DemoPlan, dataset: string) {
  const recipe = async (name: string): Promise<PlainObject> =>
    readConfigFile(join(PACKAGE_FOLDER, 'scripts', 'recipes', `${name}.yaml`));
  const [coldStart, grpo] = [await recipe('cold-start'), await recipe('grpo')];
  const shared = { dataset, seed: config.seed };
  return {
    coldStart: (paths: { run: string; model: string; rows: string }) =>
      resolveConfig(
        coldStartConfigSchema,
        [coldStart, { ...shared, ...paths, steps: plan.coldStartSteps }, config.coldStart],
        'the cold start of the demo',
      ),
    grpo: (paths: { run: string; model: string; teacherRows: string }) =>
      resolveConfig(
        grpoConfigSchema,
        [grpo, { ...shared, ...paths, steps: plan.grpoSteps }, config.grpo],
        'the GRPO stage of the demo',
      ),
  };
}

/** Runs a part unless its folder holds the result of the very same settings. */
async function once(
  folder: string,
  result: string,
  settings: object,
  work: () => Promise<void>,
): Promise<void> {
  const stamp = join(folder, '.made-with.json');
  const wanted = JSON.stringify(settings);
  const made = await readFile(stamp, 'utf8').catch(() => null);
  if (made === wanted && (await exists(join(folder, result)))) return;
  if (made !== null && made !== wanted) {
    throw new ConfigError(`${folder} was made with other settings`, {
      hint: 'choose another --out folder, or remove this one',
    });
  }
  await work();
  await writeFileAtomic(stamp, wanted);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The checkpoint that the cold start begins from. */
async function startingPoint(config: DemoConfig, run: string, context: StageContext): Promise<string> {
  if (config.base !== null) return config.base;
  if (!config.fromScratch) {
    if (await exists(join(MINIATURE_FOLDER, 'model.safetensors'))) return MINIATURE_FOLDER;
    throw new ConfigError('the package holds no base checkpoint', {
      hint: 'use --from-scratch to train one',
    });
  }
  const data = `${run}-data`;
  const recipe = await readConfigFile(join(PACKAGE_FOLDER, 'scripts', 'recipes', 'base-data.yaml'));
  const { photos: _photos, photoShare: _share, ...settings } = recipe;
  const synthesis = synthesisConfigSchema.parse({ ...settings, output: data });
  await once(data, 'dataset.json', synthesis, async () => {
    await synthesize(synthesis, context);
  });
  const base = resolveConfig(
    baseConfigSchema,
    [
      await readConfigFile(join(PACKAGE_FOLDER, 'scripts', 'recipes', 'base.yaml')),
      { run, preset: MINIATURE_FOLDER, dataset: data },
    ],
    'the base stage of the demo',
  );
  return (await trainBase(base, context)).model;
}

async function evaluateModel(
  name: string,
  folder: string,
  data: string,
  config: DemoConfig,
  { progress, signal }: StageContext,
  predictions: Map<string, Prediction[]>,
): Promise<ModelReport> {
  const scorer = await createScorer({ model: folder });
  const dataset = await loadDataset(data);
  const splits: ModelReport['splits'][number][] = [];
  for (const split of Object.keys(SPLIT_NAMES) as DemoSplit[]) {
    const records = dataset.records.filter((record) => record.split === split);
    const images = await loadPixels(records, data, { signal });
    for (const mode of MODES) {
      const label = `${SPLIT_NAMES[split]}, ${MODE_NAMES[mode]}`;
      progress.start(`${name}: ${label}`, records.length);
      const rows = await predict(scorer, { records, images }, { mode, seed: config.seed, progress, signal });
      progress.stop();
      predictions.set(`${name}/${label}`, rows);
      await writeJsonl(join(config.output, 'predictions', `${name}-${split}-${mode}.jsonl`), rows);
      splits.push({ split: label, predictions: rows, summary: summarize(rows, { seed: config.seed }) });
    }
  }
  scorer.close();
  return { name, splits };
}
