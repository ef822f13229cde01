import { SPLITS, type SynthesisConfig, synthesisConfigSchema, synthesize } from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

export const dataSynthStage: Stage<SynthesisConfig> = {
  schema: synthesisConfigSchema,
  async run(config, { progress, signal, threads, print }) {
    const summary = await synthesize(config, {
      progress,
      signal,
      ...(threads === undefined ? {} : { workers: threads }),
    });
    print(
      `${summary.output}: ${summary.images} images in ${summary.seconds.toFixed(1)} s ` +
        `(${summary.imagesPerSecond.toFixed(0)}/s)`,
    );
    for (const split of SPLITS) {
      const count = summary.counts[split];
      const mean = summary.meanMos[split];
      const rated = Number.isNaN(mean) ? 'no MOS' : `mean MOS ${mean.toFixed(3)}`;
      if (count > 0) print(`  ${split}: ${count} images, ${rated}`);
    }
    print(`  records.jsonl SHA-256 ${summary.recordsSha256}`);
  },
};
