import sharp from 'sharp';
import { FINDING_KINDS, FINDING_TITLES, type Finding, type FindingKind, severityOf } from './findings.ts';
import type { ValidationReport } from './validate.ts';

const PER_KIND = 60;
const PICTURES_PER_FINDING = 4;
const MOST_PICTURES = 400;
const THUMBNAIL = 128;

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Names and messages come from files of strangers. Control characters are shown as the replacement character. */
const escaped = (text: string | number): string =>
  String(text)
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!)
    .replace(/[^\P{Cc}\t\n\r]/gu, '\uFFFD');

const STYLE = `
:root { color-scheme: light dark; --line: #d0d4da; --soft: #667; --bad: #b3261e; --warn: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --line: #3a3f47; --soft: #9aa; --bad: #ff8a80; --warn: #e3b341; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .25rem .75rem .25rem 0; text-align: left; }
h2 { margin-top: 2.5rem; font-size: 1.1rem; border-bottom: 1px solid var(--line); }
.problem { color: var(--bad); } .warning { color: var(--warn); } .soft { color: var(--soft); }
.finding { margin: .75rem 0; overflow-wrap: anywhere; }
figure { display: inline-block; margin: .25rem .5rem .25rem 0; }
img { max-width: ${THUMBNAIL}px; max-height: ${THUMBNAIL}px; border: 1px solid var(--line); }
`;

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
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Validation of ${escaped(report.folder)}</title><style>${STYLE}</style>
<h1>Validation of ${escaped(report.folder)}</h1>
<p>${report.images} images${Object.entries(report.splits)
    .map(([split, count]) => `, ${escaped(split)} ${count}`)
    .join('')}; ${report.labels} with a score.</p>
${rows.length === 0 ? '<p>Nothing was found.</p>' : `<table>${rows.join('')}</table>`}
${hint}
${sections.join('\n')}
</html>
`;
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

/** Small pictures as data URLs, so that the page can be sent alone; only so many of them. */
class Thumbnails {
  readonly #pixelLimit: number;
  #left = MOST_PICTURES;

  constructor(pixelLimit: number) {
    this.#pixelLimit = pixelLimit;
  }

  async figure(path: string): Promise<string> {
    if (this.#left-- <= 0) return '';
    let source: string;
    try {
      const file = await sharp(path, { limitInputPixels: this.#pixelLimit, pages: 1 })
        .autoOrient()
        .resize(THUMBNAIL, THUMBNAIL, { fit: 'inside', withoutEnlargement: true })
        .flatten({ background: '#ffffff' })
        .jpeg({ quality: 70 })
        .toBuffer();
      source = `data:image/jpeg;base64,${file.toString('base64')}`;
    } catch {
      return ''; // The finding itself says that the picture is broken or gone.
    }
    return `<figure><img src="${source}" alt="${escaped(path)}" title="${escaped(path)}"></figure>`;
  }
}
