import { readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { asStorageError, ConfigError, readConfigFile, resolveConfig } from '../../core/index.ts';
import { SPLITS } from '../../data/index.ts';
import { SCORING_MODES } from '../../scoring/index.ts';
import { BASELINES } from '../baselines/names.ts';
import { readingName } from '../run-identity.ts';

/** The suites that come with the package. */
export const SUITES_FOLDER: string = fileURLToPath(new URL('../../../eval/suites', import.meta.url));

const name = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'allowed are a-z, 0-9 and -');

/** `all`: every image with a MOS, for sets that are tested whole. */
export const SUITE_SPLITS = [...SPLITS, 'all'] as const;
export type SuiteSplit = (typeof SUITE_SPLITS)[number];

/** Columns of the table, in this order. */
export const SUITE_METRICS = ['srcc', 'plcc', 'plccLogistic4', 'krcc', 'rmse', 'mae'] as const;
export type SuiteMetric = (typeof SUITE_METRICS)[number];

const readingSchema = z
  .strictObject({
    mode: z.enum(SCORING_MODES),
    samples: z.int().positive().optional().describe('mode sampled: answers drawn for each image'),
    temperature: z.number().positive().optional(),
    topP: z.number().positive().max(1).optional(),
  })
  .refine(
    ({ mode, samples, temperature, topP }) =>
      mode === 'sampled' || (samples ?? temperature ?? topP) === undefined,
    {
      error: 'samples, temperature and topP belong to mode sampled',
    },
  );
export type SuiteReading = z.infer<typeof readingSchema>;

const figure = z.number().min(-1).max(1);

const partSchema = z.strictObject({ dataset: name, split: z.enum(SUITE_SPLITS) });

/** What a suite file holds. Unknown keys fail. */
export const suiteSchema = z
  .strictObject({
    name,
    title: z.string().min(1),
    description: z.string().min(1).describe('what is measured, and by which protocol'),
    prompt: z.string().min(1).default('student/quality.v1').describe('shipped prompt for checkpoints'),
    readings: z.array(readingSchema).min(1),
    metrics: z.array(z.enum(SUITE_METRICS)).min(1),
    entries: z
      .array(
        z.strictObject({
          id: name,
          title: z.string().min(1),
          dataset: name.describe('folder of the imported data set, below --data'),
          split: z.enum(SUITE_SPLITS),
          role: z.enum(['in-domain', 'cross-domain']),
          import: z.string().min(1).optional().describe('how to make the folder'),
        }),
      )
      .min(1),
    train: partSchema.optional().describe('what baselines are fitted on'),
    baselines: z.array(z.enum(BASELINES)).default([]),
    quoted: z
      .array(
        z.strictObject({
          model: z.string().min(1),
          source: z.string().min(1),
          note: z.string().min(1).optional().describe('how its protocol differs from that of this suite'),
          results: z.record(z.string(), z.strictObject({ srcc: figure.optional(), plcc: figure.optional() })),
        }),
      )
      .default([])
      .describe('published figures, shown beside the measured ones and marked as quoted'),
  })
  .superRefine((suite, context) => {
    const ids = suite.entries.map(({ id }) => id);
    const problem = (message: string): void => context.addIssue({ code: 'custom', message });
    for (const id of new Set(ids)) {
      if (ids.filter((other) => other === id).length > 1)
        problem(`the id ${id} occurs more than once in entries`);
    }
    const readings = suite.readings.map(readingName);
    for (const reading of new Set(readings)) {
      if (readings.filter((other) => other === reading).length > 1)
        problem(`two readings are called ${reading}: give one of them in a suite of its own`);
    }
    for (const { model, results } of suite.quoted) {
      for (const id of Object.keys(results)) {
        if (!ids.includes(id)) problem(`quoted ${model} has a result for ${id}, which is no entry`);
      }
    }
    if (suite.baselines.length > 0 && suite.train === undefined) {
      problem('baselines are fitted on a training split: give train');
    }
  });
export type Suite = z.infer<typeof suiteSchema>;
export type SuiteEntry = Suite['entries'][number];

/** Names of the suites that come with the package, sorted. */
export async function shippedSuites(): Promise<string[]> {
  try {
    return (await readdir(SUITES_FOLDER))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => file.slice(0, -'.yaml'.length))
      .sort();
  } catch (error) {
    throw asStorageError(error, `reading the suites in ${SUITES_FOLDER}`);
  }
}

/** A suite that comes with the package by its name, or any other by the path of its YAML file. */
export async function loadSuite(nameOrPath: string): Promise<Suite> {
  const shipped = await shippedSuites();
  const path = shipped.includes(nameOrPath) ? `${SUITES_FOLDER}/${nameOrPath}.yaml` : nameOrPath;
  if (path === nameOrPath && !(await isFile(path))) {
    throw new ConfigError(`there is no suite "${nameOrPath}"`, {
      hint: `allowed are ${shipped.join(', ')}, or the path of a YAML file`,
    });
  }
  return resolveConfig(suiteSchema, [await readConfigFile(path)], `suite ${path}`);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
