/**
 * The comparisons of docs/log.md, run through the command line of the product:
 *
 *     npm run experiment -- stale-data --model runs/ci/model --data data/mine --rows data/teacher/accepted.jsonl \
 *       --out runs/stale-data [--steps 60] [--seeds 3]
 *
 * Each run is a folder that the same command continues; finished ones are not run again. Writes summary.json,
 * summary.md and curves.png.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EXPERIMENTS, type Experiment, type ExperimentName } from './matrix.ts';
import { drawCurves } from './picture.ts';
import { markdownTable, outcomeOf, type RunOutcome } from './summary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { name, model, data, rows, out, steps, seeds } = readOptions();
const experiment: Experiment = EXPERIMENTS[name];
const slug = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
const exists = (path: string): Promise<boolean> => stat(path).then(Boolean, () => false);

const outcomes: RunOutcome[] = [];
for (let seed = 0; seed < seeds; seed++) {
  for (const condition of experiment.conditions) {
    for (const variant of experiment.variants) {
      const run = join(out, `${slug(condition.name)}-${slug(variant.name)}-seed-${seed}`);
      if (!(await exists(join(run, 'model')))) {
        const settings = [
          ...[`seed=${seed}`, `steps=${steps}`, 'validateEvery=1000', 'validationImages=200'],
          ...['checkpointEvery=20', ...experiment.settings, ...condition.settings, ...variant.settings],
        ];
        console.error(run);
        await mkdir(out, { recursive: true });
        const child = spawn(
          process.execPath,
          [
            ...['--import', 'tsx', join(root, 'src/cli/main.ts'), 'train', 'grpo'],
            ...['--config', join(root, 'scripts/recipes/grpo.yaml'), '--run', run],
            ...['--model', model, '--data', data, '--rows', rows],
            ...settings.flatMap((setting) => ['--set', setting]),
          ],
          { stdio: ['ignore', 'ignore', 'inherit'] },
        );
        const [code] = (await once(child, 'close')) as [number | null];
        if (code !== 0) process.exit(code ?? 1);
      }
      outcomes.push(await outcomeOf(run, { variant: variant.name, condition: condition.name, seed }));
    }
  }
}
const table = markdownTable(outcomes);
await writeFile(
  join(out, 'summary.json'),
  `${JSON.stringify(
    outcomes.map(({ steps: _, ...outcome }) => outcome),
    null,
    2,
  )}\n`,
);
await writeFile(join(out, 'summary.md'), `${experiment.question}\n\n${table}\n`);
await drawCurves(outcomes, join(out, 'curves.png'));
console.log(table);

/** The options of the command line; what is wrong with them is said in a sentence, with exit code 2. */
function readOptions() {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        model: { type: 'string' },
        data: { type: 'string' },
        rows: { type: 'string' },
        out: { type: 'string' },
        steps: { type: 'string', default: '60' },
        seeds: { type: 'string', default: '3' },
      },
    });
    const [name = ''] = positionals;
    const { model, data, rows, out } = values;
    if (!Object.hasOwn(EXPERIMENTS, name) || !model || !data || !rows || !out) {
      const names = Object.keys(EXPERIMENTS).join(', ');
      throw new Error(`give an experiment (${names}) and --model, --data, --rows and --out`);
    }
    const whole = (option: 'steps' | 'seeds'): number => {
      const value = Number(values[option]);
      if (Number.isInteger(value) && value >= 1) return value;
      throw new Error(`--${option} is ${values[option]}, allowed is a whole number from 1`);
    };
    const [steps, seeds] = [whole('steps'), whole('seeds')];
    return { name: name as ExperimentName, model, data, rows, out, steps, seeds };
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
}
