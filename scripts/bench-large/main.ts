/**
 * Ten GRPO steps of low-rank adapters on a random Qwen2.5-VL of 320 M parameters, in a process of its own:
 *
 *     npm run bench:large -- FOLDER
 *
 * Prints tokens a second, seconds of each part of a step, and the peak of resident memory beside what `q-ponder plan`
 * says. The model says nothing sensible and learns nothing: what is measured is the machinery. FOLDER takes 3 GB and
 * is kept, so that a second call measures at once.
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Rng } from '../../src/core/index.ts';
import { synthesisConfigSchema, synthesize } from '../../src/data/index.ts';
import { startEngine, stopEngine } from '../../src/engine/index.ts';
import {
  createModel,
  disposeParameters,
  initialValues,
  loadModelFormat,
  saveModel,
} from '../../src/model/index.ts';
import { planConfigSchema, planStage } from '../../src/train/index.ts';
import { LARGE_CHANGES, LARGE_GRPO, LARGE_PICTURES, LARGE_PLAN, LARGE_VISION_CHANGES } from './config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = process.argv[2];
if (folder === undefined) throw new Error('give a folder to work in: npm run bench:large -- FOLDER');
const at = (name: string): string => join(folder, name);
const exists = (path: string): Promise<boolean> => stat(path).then(Boolean, () => false);

async function makePreset(): Promise<void> {
  const mini = join(root, 'models', 'qwen2.5-vl-mini');
  await mkdir(at('preset'), { recursive: true });
  const files = [
    'tokenizer.json',
    'tokenizer_config.json',
    'preprocessor_config.json',
    'generation_config.json',
  ];
  for (const name of files) await cp(join(mini, name), join(at('preset'), name));
  const config = JSON.parse(await readFile(join(mini, 'config.json'), 'utf8'));
  const vision = { ...config.vision_config, ...LARGE_VISION_CHANGES };
  const changed = { ...config, ...LARGE_CHANGES, vision_config: vision };
  await writeFile(join(at('preset'), 'config.json'), JSON.stringify(changed, null, 2));
}

async function makeModel(): Promise<void> {
  await startEngine();
  const format = await loadModelFormat(at('preset'));
  const model = createModel(format, initialValues(format.config, new Rng('large')));
  await saveModel(model, at('model'), { dtype: 'BF16' });
  disposeParameters(model.parameters);
  stopEngine();
}

async function makePictures(): Promise<void> {
  const { size, train, validation } = LARGE_PICTURES;
  const counts = { train, validation, test: 1, cross: 0 };
  await synthesize(synthesisConfigSchema.parse({ output: at('data'), size, counts }));
}

/** Runs the command line; gives the highest resident memory that the system saw, in bytes. */
async function trainAndWatch(): Promise<number> {
  const settings = { ...LARGE_GRPO, model: at('model'), dataset: at('data'), run: at('run') };
  await writeFile(at('grpo.json'), JSON.stringify(settings));
  await rm(at('run'), { recursive: true, force: true });
  const main = join(root, 'src', 'cli', 'main.ts');
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', main, 'train', 'grpo', '--config', at('grpo.json')],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  let peak = 0;
  const watch = setInterval(() => {
    readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (text) => {
        peak = Math.max(peak, 1024 * Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0));
      },
      () => undefined,
    );
  }, 200);
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`the training ended with ${code}`);
  return peak;
}

async function rowsOf(name: string): Promise<Record<string, number>[]> {
  const text = await readFile(join(at('run'), name), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

if (!(await exists(join(at('model'), 'model.safetensors')))) {
  await makePreset();
  await makeModel();
}
if (!(await exists(join(at('data'), 'records.jsonl')))) await makePictures();
const peak = await trainAndWatch();
const metrics = (await rowsOf('metrics.jsonl')).filter((row) => row['completions/mean_length'] !== undefined);
// The first step compiles.
const timings = (await rowsOf('timings.jsonl')).filter(({ step }) => step! > 1);
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const secondsOf = (part: string): number => mean(timings.map((row) => row[part] ?? 0));
const answers = LARGE_GRPO.promptsPerStep * LARGE_GRPO.groupSize;
const tokens = mean(metrics.map((row) => row['completions/mean_length']! * answers));
const plan = await planStage(planConfigSchema.parse({ ...LARGE_PLAN, model: at('preset') }));
console.log(
  JSON.stringify(
    {
      machine: `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
      parameters: plan.counts.parameters,
      trained: plan.counts.trained,
      stepSeconds: {
        rollout: secondsOf('rollout'),
        reward: secondsOf('reward'),
        update: secondsOf('update'),
      },
      generatedTokensPerSecond: tokens / secondsOf('rollout'),
      trainedTokensPerSecond: (answers * plan.counts.sequence) / secondsOf('update'),
      peakMiB: Math.round(peak / 2 ** 20),
      plannedMiB: Math.round(plan.memory.total / 2 ** 20),
    },
    null,
    2,
  ),
);
