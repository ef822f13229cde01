import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DEMO_FOLDER } from '../../../src/cli/stages/default-model.ts';
import { demoConfigSchema, FULL_MINUTES, planFor } from '../../../src/cli/stages/demo-plan.ts';
import { distillConfigSchema } from '../../../src/cli/stages/distill.ts';
import { evalRunConfigSchema } from '../../../src/cli/stages/eval-run.ts';
import { type PlainObject, readConfigFile, resolveConfig } from '../../../src/core/index.ts';
import { synthesisConfigSchema } from '../../../src/data/index.ts';
import { baseConfigSchema, coldStartConfigSchema, grpoConfigSchema } from '../../../src/train/index.ts';

const FOLDER = new URL('../../../scripts/recipes/', import.meta.url);

interface Kind {
  schema: Parameters<typeof resolveConfig>[0];
  /** What the command line adds: folders that a recipe cannot know. */
  folders: PlainObject;
}

/** By the beginning of the file's name; the longest that fits counts. */
const KINDS: Readonly<Record<string, Kind>> = {
  'base-data': { schema: synthesisConfigSchema, folders: { output: 'out' } },
  data: { schema: synthesisConfigSchema, folders: { output: 'out' } },
  base: { schema: baseConfigSchema, folders: { run: 'run', dataset: 'data' } },
  'cold-start': {
    schema: coldStartConfigSchema,
    folders: { run: 'run', model: 'model', dataset: 'data', rows: 'rows.jsonl' },
  },
  grpo: { schema: grpoConfigSchema, folders: { run: 'run', model: 'model', dataset: 'data' } },
  distill: { schema: distillConfigSchema, folders: { dataset: 'data', output: 'out' } },
  eval: { schema: evalRunConfigSchema, folders: { dataset: 'data', model: 'model' } },
  demo: { schema: demoConfigSchema, folders: {} },
};

const kindOf = (name: string): Kind | undefined => {
  const [longest] = Object.keys(KINDS)
    .filter((kind) => name.startsWith(kind))
    .sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : KINDS[longest];
};

const names = (await readdir(FOLDER)).sort();

const recipe = (name: string): Promise<PlainObject> => readConfigFile(fileURLToPath(new URL(name, FOLDER)));

describe('scripts/recipes', () => {
  it('holds the recipe of every training stage, and nothing but recipes', () => {
    expect(names).toEqual(
      expect.arrayContaining(['base-data.yaml', 'base.yaml', 'cold-start.yaml', 'grpo.yaml']),
    );
    expect(names.filter((name) => !name.endsWith('.yaml') || kindOf(name) === undefined)).toEqual([]);
  });

  it.each(names)('%s resolves, and each of its settings arrives', async (name) => {
    const { schema, folders } = kindOf(name)!;
    const settings = await recipe(name);
    expect(resolveConfig(schema, [settings, folders], name)).toMatchObject(settings);
  });

  it.each(names)('%s names no folder of one machine', async (name) => {
    expect(JSON.stringify(await recipe(name))).not.toMatch(/"(\/|[A-Za-z]:\\)/);
  });
});

describe('one setting of a section leaves the others at their defaults', () => {
  const grpo = (settings: PlainObject) =>
    resolveConfig(grpoConfigSchema, [KINDS.grpo!.folders, settings], 'grpo');

  it('of the optimiser', () => {
    const { optimizer } = grpo({ optimizer: { learningRate: 3e-4 } });
    expect(optimizer).toEqual({ ...grpo({}).optimizer, learningRate: 3e-4 });
    expect(optimizer).toMatchObject({ weightDecay: 0, beta2: 0.95 });
    expect(grpo({ optimizer: { epsilon: 1e-6 } }).optimizer.learningRate).toBe(1e-4);
  });

  it('of what is frozen', () => {
    expect(grpo({ freeze: { merger: true } }).freeze).toEqual({ vision: true, merger: true });
    expect(grpo({}).freeze).toEqual({ vision: true, merger: false });
  });
});

describe('the plan of the demo', () => {
  const full = planFor(FULL_MINUTES);

  it('tests on a thousand images of each kind when it has its full time', () => {
    expect(full.images.test).toBe(1000);
    expect(full.images.cross).toBe(1000);
  });

  it('does no more with more time', () => {
    expect(planFor(5 * FULL_MINUTES)).toEqual(full);
  });

  it('shrinks every part alike: a quarter of the time, a quarter of each', () => {
    const quarter = planFor(FULL_MINUTES / 4);
    expect(quarter.images).toEqual({
      train: full.images.train / 4,
      validation: full.images.validation / 4,
      test: 250,
      cross: 250,
    });
    expect(quarter.coldStartSteps).toBe(Math.round(full.coldStartSteps / 4));
    expect(quarter.grpoSteps).toBe(Math.round(full.grpoSteps / 4));
  });

  it('always has enough of each part to run', () => {
    const { images, coldStartSteps, grpoSteps } = planFor(1e-6);
    for (const count of [...Object.values(images), coldStartSteps, grpoSteps])
      expect(count).toBeGreaterThan(1);
  });

  it('starts in the folder that "score" looks in', () => {
    expect(demoConfigSchema.parse({}).output).toBe(DEMO_FOLDER);
  });
});
