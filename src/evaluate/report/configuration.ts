import { type Html, html, NOTHING } from './html.ts';
import type { Fact, ReportData } from './report-data.ts';

/** Dotted keys and values of all leaves, in order; empty lists and objects are leaves of their own. */
export function configurationLeaves(value: unknown, path = ''): Fact[] {
  const isBranch =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  if (!isBranch) return [{ label: path, value: typeof value === 'string' ? value : JSON.stringify(value) }];
  return Object.entries(value).flatMap(([key, inner]) =>
    configurationLeaves(inner, path === '' ? key : `${path}.${key}`),
  );
}

/** Where every figure of the page comes from: the report's own facts, each result's, each stage's settings. */
export function provenanceSection({ provenance, models, stages }: ReportData): Html {
  const results = models.flatMap(({ name, splits }) =>
    splits.flatMap((split) =>
      split.provenance === undefined ? [] : [folded(`${name}, ${split.split}`, factTable(split.provenance))],
    ),
  );
  const settings = stages.flatMap(({ name, configuration }) =>
    configuration === undefined
      ? []
      : [folded(`configuration of ${name}`, factTable(configurationLeaves(configuration)))],
  );
  return html`${provenance.length === 0 ? html`<p>missing: no provenance was given</p>` : factTable(provenance)}${results}${settings}`;
}

const folded = (title: string, body: Html): Html =>
  html`<details><summary>${title}</summary>${body}</details>`;

function factTable(facts: readonly Fact[]): Html {
  if (facts.length === 0) return NOTHING;
  const rows = facts.map(({ label, value }) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`);
  return html`<div class="scroll"><table class="provenance"><tbody>${rows}</tbody></table></div>`;
}
