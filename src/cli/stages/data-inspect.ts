import { z } from 'zod';
import { type Inspection, inspectDataset, MOS_BINS, SPLITS } from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

const inspectConfigSchema = z.strictObject({
  dataset: z.string().min(1).describe('data set folder with records.jsonl'),
  json: z.boolean().default(false).describe('print everything as JSON'),
});
type InspectConfig = z.infer<typeof inspectConfigSchema>;

const BLOCKS = ' ▁▂▃▄▅▆▇█';
const SHOWN_DISTORTIONS = 30;

export const dataInspectStage: Stage<InspectConfig> = {
  schema: inspectConfigSchema,
  async run({ dataset, json }, { print }) {
    const inspection = await inspectDataset(dataset);
    if (json) print(JSON.stringify(inspection, null, 2));
    else for (const line of describeInspection(inspection)) print(line);
  },
};

/** The inspection for people, one line each. */
export function describeInspection(inspection: Inspection): string[] {
  const { folder, datasets, info, images, groups, source, known, distortions, licences, unchecked } =
    inspection;
  const lines = [`${folder}: ${info.title ?? datasets.join(', ')}, ${images} images`];
  if (info.importedFrom !== undefined) {
    lines.push(
      `  imported from ${info.importedFrom}${info.form === undefined ? '' : ` (form ${info.form})`}`,
    );
  }
  if (unchecked > 0) lines.push(`  LABELS ONLY: ${unchecked} images were not looked for`);
  if (source !== null) {
    const { least, greatest, range, direction } = source;
    lines.push(
      `  published scores ${least} to ${greatest}, scale ${range[0]} to ${range[1]}, ${direction} is better`,
    );
  }
  lines.push('  MOS on 1 to 5 (left worst, right best):');
  for (const split of SPLITS) {
    const one = inspection.splits[split];
    if (one === undefined) continue;
    const score = one.mean === null ? 'no scores' : `mean ${one.mean.toFixed(3)}, std ${one.std!.toFixed(3)}`;
    const unjudged = one.unjudged > 0 && one.mean !== null ? `, ${one.unjudged} not judged` : '';
    lines.push(
      `    ${split.padEnd(10)} |${sparkline(one.histogram)}| ${one.images} images, ${one.groups} groups, ${score}${unjudged}`,
    );
  }
  lines.push(
    `  groups: ${groups.count}, most of ${groups.sizeOfMost} image(s), the largest of ${groups.largest}`,
  );
  lines.push(
    `  known: std of ${known.std}, raters of ${known.raters}, votes of ${known.votes}, reference of ${known.reference} images`,
  );
  if (distortions.length > 0) {
    const shown = distortions.slice(0, SHOWN_DISTORTIONS).map(([name, count]) => `${name} ${count}`);
    const more =
      distortions.length > SHOWN_DISTORTIONS ? `, ${distortions.length - SHOWN_DISTORTIONS} more` : '';
    lines.push(`  distortions: ${shown.join(', ')}${more}`);
  }
  if (info.splits !== undefined) lines.push(`  split: ${info.splits}`);
  const allLicences = [...new Set([...licences, ...(info.licence === undefined ? [] : [info.licence])])];
  lines.push(`  licence: ${allLicences.join('; ') || 'not recorded'}`);
  if (info.citation !== undefined) lines.push(`  cite: ${info.citation}`);
  return lines;
}

/** One block a bin, as high as its share of the fullest; a bin with any image is not blank. */
function sparkline(histogram: readonly number[]): string {
  const most = Math.max(1, ...histogram);
  const steps = BLOCKS.length - 1;
  return Array.from(
    { length: MOS_BINS },
    (_, i) => BLOCKS[Math.ceil((steps * (histogram[i] ?? 0)) / most)],
  ).join('');
}
