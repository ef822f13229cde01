import { escaped, htmlPage, imagePath, Thumbnails } from '../data/index.ts';
import type { Distillation } from './distill.ts';
import type { DistillIdentity } from './distill-identity.ts';
import { FILTER_MEANINGS } from './explain-filters.ts';
import { FILTER_REASONS } from './filter-config.ts';
import { EXAMPLES, percent, refusedExamples, shortened } from './report-examples.ts';
import type { ColdStartRow } from './rows.ts';

export interface DistillPageAbout {
  /** The data set folder, where the pictures are. */
  dataset: string;
  /** Teacher with its settings, and the images it was asked about. */
  identity: DistillIdentity;
  /** What the answers cost by the prices given, null without prices. */
  cost: number | null;
}

/** As much as is read of a picture for a thumbnail. */
const PIXEL_LIMIT = 268_402_689;

const STYLE = `
.bar { background: var(--wash); width: 14rem; height: .8rem; } .bar div { height: 100%; background: var(--bad); }
.accepted .bar div { background: var(--good); } .accepted .bar { width: 100%; height: 1rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; } code { overflow-wrap: anywhere; }
blockquote { margin: .25rem 0 1rem; padding: .5rem .75rem; background: var(--wash); white-space: pre-wrap; overflow-wrap: anywhere; }
`;

/** A length of a bar. Its number is ours, never text from outside. */
function bar(part: number, whole: number): string {
  const share = whole === 0 ? 0 : Math.min(100, (100 * part) / whole);
  return `<div class="bar"><div style="width:${share.toFixed(1)}%"></div></div>`;
}

const row = (name: string, value: string | number): string =>
  `<tr><td>${escaped(name)}</td><td class="number">${escaped(value)}</td></tr>`;

/** The settings of a teacher as they are recorded: address, prompts with hashes, temperatures. */
const setting = ([name, value]: [string, unknown]): string =>
  `<tr><td>${escaped(name)}</td><td><code>${escaped(typeof value === 'string' ? value : JSON.stringify(value))}</code></td></tr>`;

function identityTable({ report }: Distillation, { dataset, identity }: DistillPageAbout): string {
  const { teacher, data } = identity;
  const { prompt } = report;
  const entries: [string, unknown][] = [
    ['teacher', `${teacher.name}, version ${teacher.version}`],
    ...(teacher.seed === null ? [] : [['seed', String(teacher.seed)] as [string, unknown]]),
    ['prompt of the rows', `${prompt.id}.v${prompt.version}, SHA-256 ${prompt.hash}`],
    ['data set', `${dataset}: ${data.images} images, SHA-256 ${data.sha256}`],
    ...Object.entries(teacher.settings),
  ];
  return `<table>${entries.map(setting).join('')}</table>`;
}

function countsTable({ report }: Distillation, cost: number | null): string {
  const { tokens, selection } = report;
  const chosen = selection.keep === 'all' ? 'all' : `${selection.keep}, ${selection.perImage} of each image`;
  const rows: [string, string | number][] = [
    ['images', report.records],
    ['answers wanted', report.asked],
    ['answers judged', report.total],
    ['without an answer', report.missing],
    ['accepted', report.accepted],
    [`of these selected (${chosen})`, selection.selected],
    ['rejected', report.rejected],
    ['prompt tokens', tokens.prompt],
    ['completion tokens', tokens.completion],
    ...(cost === null ? [] : [['cost', cost.toFixed(4)] as [string, string]]),
    ['mean |score - MOS| of what is selected', report.acceptedMeanAbsoluteError?.toFixed(3) ?? '-'],
  ];
  return `<table>${rows.map(([name, value]) => row(name, value)).join('')}</table>`;
}

function filtersTable({ report }: Distillation): string {
  const rows = FILTER_REASONS.map((reason) => {
    const count = report.byReason[reason];
    const name = count === 0 ? reason : `<a href="#${reason}">${reason}</a>`;
    return `<tr><td>${name}</td><td class="number">${count}</td><td class="number">${percent(count, report.total)}</td><td>${bar(count, report.total)}</td><td class="soft">${escaped(FILTER_MEANINGS[reason])}</td></tr>`;
  });
  return `<table><tr><th>filter</th><th>refused</th><th>share</th><th></th><th>what it is for</th></tr>${rows.join('')}</table>`;
}

/**
 * The report as one self-contained page: who was asked what, how much was accepted, what each filter refused, with
 * examples and their pictures.
 */
export async function distillPage(made: Distillation, about: DistillPageAbout): Promise<string> {
  const { report, rows, rejected, unselected } = made;
  const pictures = new Thumbnails(PIXEL_LIMIT);
  const example = async (one: ColdStartRow, detail: string): Promise<string> => {
    const picture = await pictures.figure(imagePath(about.dataset, one));
    const why = detail === '' ? '' : `: <span class="problem">${escaped(detail)}</span>`;
    return `<div class="finding"><code>${escaped(one.id)}</code>, MOS ${one.mos.toFixed(2)}${why}<br>${picture}
<blockquote>${escaped(shortened(one.response))}</blockquote></div>`;
  };
  const sections: string[] = [];
  for (const { reason, examples } of refusedExamples(rejected)) {
    const shown: string[] = [];
    for (const { row: one, detail } of examples) shown.push(await example(one, detail));
    sections.push(
      `<h2 id="${reason}">Refused for ${reason}: ${report.byReason[reason]}</h2><p>${escaped(FILTER_MEANINGS[reason])}</p>${shown.join('')}`,
    );
  }
  const accepted: string[] = [];
  for (const one of rows.slice(0, EXAMPLES)) accepted.push(await example(one, ''));
  const failed = report.failed
    .slice(0, EXAMPLES)
    .map(({ id, reason }) => `<div class="finding"><code>${escaped(id)}</code>: ${escaped(reason)}</div>`);
  return htmlPage(
    'Distilled answers',
    `<div class="accepted"><p>${percent(report.accepted, report.total)} accepted: ${report.accepted} of ${report.total} answers.</p>${bar(report.accepted, report.total)}</div>
<h2>Who was asked what</h2>
${identityTable(made, about)}
<h2>Counts</h2>
${countsTable(made, about.cost)}
<h2>Filters</h2>
<p class="soft">An answer with two reasons counts under both.</p>
${filtersTable(made)}
${sections.join('\n')}
<h2>Accepted</h2>
${accepted.length === 0 ? '<p>None.</p>' : accepted.join('\n')}
${unselected.length === 0 ? '' : `<p>Accepted and not selected: ${unselected.length}.</p>`}
${report.failed.length === 0 ? '' : `<h2>Without an answer in this run: ${report.failed.length}</h2>${failed.join('\n')}`}`,
    STYLE,
  );
}
