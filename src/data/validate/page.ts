import { escaped, htmlPage, Thumbnails } from '../html-page.ts';
import { FINDING_KINDS, FINDING_TITLES, type Finding, type FindingKind, severityOf } from './findings.ts';
import type { ValidationReport } from './validate.ts';

const PER_KIND = 60;
const PICTURES_PER_FINDING = 4;

/** One self-contained page: what was looked at, counts, and each finding with small pictures. */
export async function validationPage(report: ValidationReport, pixelLimit: number): Promise<string> {
  const pictures = new Thumbnails(pixelLimit);
  const sections: string[] = [];
  for (const kind of Object.keys(FINDING_KINDS) as FindingKind[]) {
    const found = report.findings.filter((finding) => finding.kind === kind);
    if (found.length > 0) sections.push(await section(kind, found, pictures));
  }
  const { direction } = report;
  const hint =
    direction === null
      ? ''
      : `<p class="soft">Rank correlation of the score with sharpness ${direction.sharpness?.toFixed(3) ?? 'none'}, with contrast
         ${direction.contrast?.toFixed(3) ?? 'none'}, over ${direction.images} images.</p>`;
  const rows = Object.entries(report.counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => {
      const severity = severityOf(kind as FindingKind);
      const title = FINDING_TITLES[kind as FindingKind];
      return `<tr><td class="${severity}">${severity}</td><td><a href="#${kind}">${escaped(title)}</a></td><td>${count}</td></tr>`;
    });
  const splits = Object.entries(report.splits).map(([split, count]) => `, ${escaped(split)} ${count}`);
  return htmlPage(
    `Validation of ${report.folder}`,
    `<p>${report.images} images${splits.join('')}; ${report.labels} with a score.</p>
${rows.length === 0 ? '<p>Nothing was found.</p>' : `<table>${rows.join('')}</table>`}
${hint}
${sections.join('\n')}`,
  );
}

async function section(kind: FindingKind, found: readonly Finding[], pictures: Thumbnails): Promise<string> {
  const parts: string[] = [];
  for (const { message, images } of found.slice(0, PER_KIND)) {
    const shown: string[] = [];
    for (const path of images.slice(0, PICTURES_PER_FINDING)) shown.push(await pictures.figure(path));
    parts.push(`<div class="finding">${escaped(message)}<br>${shown.join('')}</div>`);
  }
  const more = found.length - PER_KIND;
  const rest = more > 0 ? `<p class="soft">and ${more} more: see report.json</p>` : '';
  return `<h2 id="${kind}" class="${severityOf(kind)}">${escaped(FINDING_TITLES[kind])} (${found.length})</h2>${parts.join('')}${rest}`;
}
