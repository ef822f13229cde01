import type { Distillation } from './distill.ts';
import { FILTER_MEANINGS } from './explain-filters.ts';
import { FILTER_REASONS } from './filter-config.ts';
import { EXAMPLES, percent, refusedExamples, shortened } from './report-examples.ts';
import type { ColdStartRow } from './rows.ts';

/** Text of a model as a quotation: nothing in it can become a heading, a link or HTML. */
function quoted(text: string): string {
  return shortened(text)
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}

const inline = (text: string): string => text.replaceAll(/[\s`]+/g, ' ').trim();

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
    `| accepted | ${report.accepted} (${percent(report.accepted, total)}) |`,
    `| of these selected | ${report.selection.selected} |`,
    `| rejected | ${report.rejected} (${percent(report.rejected, total)}) |`,
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
      return `| ${reason} | ${count} | ${percent(count, total)} | ${FILTER_MEANINGS[reason]} |`;
    }),
    '',
  ];
  for (const { reason, examples } of refusedExamples(rejected)) {
    lines.push(`## Refused for ${reason}: ${report.byReason[reason]}`, '', FILTER_MEANINGS[reason], '');
    for (const { row, detail } of examples) lines.push(example(row, detail));
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
