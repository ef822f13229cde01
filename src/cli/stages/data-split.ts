import { SPLITS, type SplitConfig, splitConfigSchema, splitDataset } from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

export const dataSplitStage: Stage<SplitConfig> = {
  schema: splitConfigSchema,
  async run(config, { progress, signal, print }) {
    const { output, images, bundles, splits, notes } = await splitDataset(config, { progress, signal });
    for (const note of notes) progress.note(note);
    const distinct = new Set(splits.map(({ sha256 }) => sha256)).size;
    if (distinct < splits.length) {
      progress.note(`only ${distinct} of the ${splits.length} splits differ: there are ${bundles} groups`);
    }
    print(`${output}: ${splits.length} split(s) of ${images} images in ${bundles} groups`);
    for (const { folder, sha256, counts, meanMos } of splits) {
      const parts = SPLITS.filter((split) => counts[split] > 0).map((split) => {
        const mean = meanMos[split];
        return `${split} ${counts[split]}${mean === null ? '' : ` (mean MOS ${mean.toFixed(3)})`}`;
      });
      print(`  ${folder}: ${parts.join(', ')}; ${sha256.slice(0, 12)}`);
    }
  },
};
