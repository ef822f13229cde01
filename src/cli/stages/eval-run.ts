import { join } from 'node:path';
import { z } from 'zod';
import { InputError, writeFileAtomic, writeJsonl } from '../../core/index.ts';
import { loadDataset, loadPixels, SPLITS } from '../../data/index.ts';
import { predict, summarize } from '../../evaluate/index.ts';
import { createScorer } from '../../scoring/index.ts';
import type { Stage } from '../stage-command.ts';
import { startFor } from './engine.ts';
import { summaryTable } from './summary-table.ts';

export const evalRunConfigSchema = z.strictObject({
  model: z.string().min(1).describe('checkpoint folder'),
  dataset: z.string().min(1).describe('data set folder'),
  splits: z.array(z.enum(SPLITS)).min(1).default(['test']),
  mode: z.enum(['greedy', 'expected', 'sampled']).default('greedy'),
  prompt: z.string().min(1).default('student/quality.v1'),
  temperature: z.number().positive().default(1).describe('mode sampled only'),
  seed: z.int().min(0).default(0),
  maxNewTokens: z.int().positive().default(96),
  batchSize: z.int().positive().default(64),
  resamples: z.int().min(100).default(1000).describe('bootstrap resamples'),
  output: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('folder for predictions.jsonl and summary.json'),
});
export type EvalRunConfig = z.infer<typeof evalRunConfigSchema>;

export const evalRunStage: Stage<EvalRunConfig> = {
  schema: evalRunConfigSchema,
  async run(config, context) {
    await startFor(context);
    const { progress, signal, print } = context;
    const scorer = await createScorer({ model: config.model, mode: config.mode, prompt: config.prompt });
    const dataset = await loadDataset(config.dataset);
    for (const split of config.splits) {
      const records = dataset.records.filter((record) => record.split === split && record.mos !== null);
      if (records.length === 0) {
        throw new InputError(`${config.dataset} has no image with a MOS in split ${split}`, {
          hint: `set splits to some of ${SPLITS.join(', ')}`,
        });
      }
      const images = await loadPixels(records, config.dataset, { signal });
      progress.start(`evaluate ${split}`, records.length);
      const predictions = await predict(
        scorer,
        { records, images },
        {
          temperature: config.temperature,
          seed: config.seed,
          maxNewTokens: config.maxNewTokens,
          batchSize: config.batchSize,
          progress,
          signal,
        },
      );
      progress.stop();
      const summary = summarize(predictions, { resamples: config.resamples, seed: config.seed });
      print(summaryTable(`${split}, ${config.mode}`, summary));
      if (config.output !== null) {
        const folder = join(config.output, `${split}-${config.mode}`);
        await writeJsonl(join(folder, 'predictions.jsonl'), predictions);
        const provenance = { ...scorer.provenance, dataset: config.dataset, split, config };
        await writeFileAtomic(
          join(folder, 'summary.json'),
          `${JSON.stringify({ provenance, summary }, null, 2)}\n`,
        );
        print(`  written to ${folder}`);
      }
    }
    scorer.close();
  },
};
