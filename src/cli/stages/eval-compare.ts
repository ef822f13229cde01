import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/index.ts';
import {
  compareResults,
  formatComparison,
  type Result,
  readResults,
  shortNames,
  writeComparisonPage,
} from '../../evaluate/index.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage } from '../stage-command.ts';

export const compareConfigSchema = z.strictObject({
  results: z
    .array(z.string().min(1))
    .min(2, { error: 'give at least two: the baseline first, then what is compared with it' })
    .describe(
      'result folders or files of predictions, the baseline first; each other one is compared with it',
    ),
  most: z.int().min(0).default(10).describe('how many of the most changed images to list'),
  resamples: z.int().min(100).default(1000).describe('bootstrap resamples'),
  level: z.number().gt(0).lt(1).default(0.95).describe('coverage of the intervals'),
  seed: z.int().min(0).default(0),
  json: z.boolean().default(false).describe('print JSON instead of tables'),
  output: z.string().min(1).nullable().default(null).describe('folder for compare.json and compare.html'),
  images: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('folder of the pictures of the page; default the data set of the runs'),
});
export type CompareConfig = z.infer<typeof compareConfigSchema>;

export const evalCompareStage: Stage<CompareConfig> = {
  schema: compareConfigSchema,
  async run({ results: paths, json, output, images, ...options }, { print }) {
    const names = shortNames(paths);
    const sides: { name: string; results: Result[] }[] = [];
    for (const [i, path] of paths.entries())
      sides.push({ name: names[i]!, results: await readResults(path) });
    const [baseline, ...candidates] = sides;
    const codeVersion = packageInfo().version;
    const comparisons = candidates.map((candidate) => compareResults(baseline!, candidate, options));
    const text = `${JSON.stringify({ codeVersion, comparisons }, null, 2)}\n`;
    print(json ? text.trimEnd() : comparisons.map(formatComparison).join('\n\n'));
    if (output === null) return;
    await writeFileAtomic(join(output, 'compare.json'), text);
    for (const [i, comparison] of comparisons.entries()) {
      const page = join(output, comparisons.length === 1 ? 'compare.html' : `compare-${i + 1}.html`);
      await writeComparisonPage(page, comparison, baseline!.results, candidates[i]!.results, {
        images,
        codeVersion,
        createdAt: new Date().toISOString(),
      });
    }
    if (!json) print(`written to ${output}`);
  },
};
