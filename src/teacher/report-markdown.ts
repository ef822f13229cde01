import type { Distillation } from './distill.ts';
import { FILTER_MEANINGS } from './explain-filters.ts';
import { FILTER_REASONS } from './filter-config.ts';
import type { ColdStartRow } from './rows.ts';

const EXAMPLES = 3;
const LONGEST = 700;

/** Text of a model as a quotation: nothing in it can become a heading, a link or HTML. */
function quoted(text: string): string {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)} ...` : text;
  return short
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}

const inline = (text: string): string => text.replaceAll(/[\s`]+/g, ' ').trim();

const share = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;

const example = (row: ColdStartRow, detail: string): string =>
  `\`${inline(row.id)}\`, MOS ${row.mos.toFixed(2)}: ${detail === '' ? '' : `\`${inline(detail)}\``}\n\n${quoted(row.response)}\n`;

/** The report for a person: counts, and for each filter what it is for and what it refused, by example. */
export function distillMarkdown({ rows, rejected, unselected, report }: Distillation): string {
  const { teacher, prompt, total, asked, missing, failed, tokens } = report;
  const lines = [
    '# Distilled answers',
    '',
    `Teacher \`${inline(teacher.name)}\` (version ${inline(teacher.version)}), rows for the prompt \`${prompt.id}.v${prompt.version}\`.`,
    '',
    '| what | count |',
    '|---|---|',
    `| images | ${report.records} |`,
    `| answers wanted | ${asked} |`,
    `| answers judged | ${total} |`,
    `| without an answer | ${missing} |`,
    `| accepted | ${report.accepted} (${share(report.accepted, total)}) |`,
    `| of these selected | ${report.selection.selected} |`,
    `| rejected | ${report.rejected} (${share(report.rejected, total)}) |`,
    `| prompt tokens, completion tokens | ${tokens.prompt}, ${tokens.completion} |`,
    '',
    '## Filters',
    '',
    'An answer with two reasons counts under both.',
    '',
    '| filter | refused | share | what it is for |',
    '|---|---|---|---|',
    ...FILTER_REASONS.map((reason) => {
      const count = report.byReason[reason];
      return `| ${reason} | ${count} | ${share(count, total)} | ${FILTER_MEANINGS[reason]} |`;
    }),
    '',
  ];
  for (const reason of FILTER_REASONS) {
    const found = rejected.flatMap((row) => {
      const because = row.rejectedBecause?.find((rejection) => rejection.reason === reason);
      return because === undefined ? [] : [{ row, detail: because.detail }];
    });
    if (found.length === 0) continue;
    lines.push(`## Refused for ${reason}: ${found.length}`, '', FILTER_MEANINGS[reason], '');
    for (const { row, detail } of found.slice(0, EXAMPLES)) lines.push(example(row, detail));
  }
  lines.push('## Accepted', '', ...rows.slice(0, EXAMPLES).map((row) => example(row, '')));
  if (unselected.length > 0) lines.push(`Accepted and not selected: ${unselected.length}.`, '');
  if (failed.length > 0) {
    lines.push(
      `## Without an answer in this run: ${failed.length}`,
      '',
      ...failed.slice(0, EXAMPLES).map(({ id, reason }) => `- \`${inline(id)}\`: \`${inline(reason)}\``),
      '',
    );
  }
  return `${lines.join('\n').trimEnd()}\n`;
}
