import { join } from 'node:path';
import { InputError } from '../../core/index.ts';
import {
  FINDING_TITLES,
  type FindingKind,
  outputOf,
  severityOf,
  type ValidateConfig,
  type ValidationReport,
  validateConfigSchema,
  validateDataset,
} from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

/** Findings of one kind that are printed; all of them are in the report. */
const SHOWN = 5;

export const dataValidateStage: Stage<ValidateConfig> = {
  schema: validateConfigSchema,
  async run(config, { progress, signal, print }) {
    const report = await validateDataset(config, { progress, signal });
    print(config.json ? JSON.stringify(report, null, 2) : summaryOf(report));
    const page = join(outputOf(config), 'report.html');
    if (!config.json) print(`report: ${page}`);
    const { problems, warnings } = report;
    const isBad = config.failOn === 'problem' ? problems > 0 : problems + warnings > 0;
    if (config.failOn !== 'never' && isBad) {
      throw new InputError(`${config.data} has ${problems} problem(s) and ${warnings} warning(s)`, {
        hint: `see ${page}; --set ignore=[kind] leaves a kind out, --set failOn=never only reports`,
      });
    }
  },
};

/** Ids and names are anybody's: what would steer the terminal or begin a line is shown as JSON writes it. */
export const printable = (text: string): string =>
  text.replaceAll(/\p{Cc}|\p{Cf}/gu, (one) => `\\u${one.codePointAt(0)!.toString(16).padStart(4, '0')}`);

/** The rate is that of decoding: images that the cache knows, and those that are not there, take next to no time. */
export function speedOf({
  decoded,
  known,
  absent,
  seconds,
  lookingSeconds,
}: Pick<ValidationReport, 'decoded' | 'known' | 'absent' | 'seconds' | 'lookingSeconds'>): string {
  const rate =
    decoded === 0 ? '' : ` in ${lookingSeconds.toFixed(1)} s (${(decoded / lookingSeconds).toFixed(0)}/s)`;
  return `${decoded} decoded${rate}, ${known} known from the last run, ${absent} not there; ${seconds.toFixed(1)} s in all`;
}

function summaryOf(report: ValidationReport): string {
  const { images, labels, splits, direction } = report;
  const parts = Object.entries(splits).map(([split, count]) => `, ${split} ${count}`);
  const lines = [
    `${report.folder}: ${images} images${parts.join('')}; ${labels} with a score`,
    `  ${speedOf(report)}`,
  ];
  if (direction !== null) {
    lines.push(
      `  hint of the direction: SRCC of the score with sharpness ${direction.sharpness?.toFixed(2) ?? 'none'}, ` +
        `with contrast ${direction.contrast?.toFixed(2) ?? 'none'}`,
    );
  }
  for (const [name, count] of Object.entries(report.counts)) {
    if (count === 0) continue;
    const kind = name as FindingKind;
    lines.push(`${severityOf(kind)}: ${FINDING_TITLES[kind]}: ${count}`);
    const found = report.findings.filter((finding) => finding.kind === kind);
    for (const { message } of found.slice(0, SHOWN)) lines.push(`  ${printable(message)}`);
    if (found.length > SHOWN) lines.push(`  and ${found.length - SHOWN} more`);
  }
  return lines.join('\n');
}
