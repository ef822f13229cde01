import { FLAGS, type GalleryData } from './gallery-data.ts';
import { type Html, html, NOTHING } from './html.ts';
import { scriptJson } from './script-json.ts';
import { spaced } from './words.ts';

const SORTS = [
  ['worst', 'largest error first'],
  ['best', 'smallest error first'],
  ['kind', 'score too high first'],
  ['harsh', 'score too low first'],
  ['mos-down', 'MOS, high to low'],
  ['mos-up', 'MOS, low to high'],
  ['id', 'name'],
] as const;

/** Sorts that need a second model: the one before the one that is shown. */
const CHANGE_SORTS = [
  ['better', 'most improved first'],
  ['poorer', 'most worsened first'],
] as const;

/** The shell of the gallery and its data; the script of the page fills it, a page of cards at a time. */
export function gallerySection({ gallery, uris }: { gallery: GalleryData; uris: readonly string[] }): Html {
  if (gallery.rows.length === 0) return html`<p>missing: none of the answers is kept for browsing</p>`;
  const { models, splits, rows, leftOut } = gallery;
  const types = [...new Set(rows.flatMap(({ truth }) => truth ?? []))].sort();
  const named = types.length === 0;
  const kinds = named ? namedTypes(gallery) : types;
  const flags = new Set(rows.flatMap(({ answers }) => answers.flatMap((answer) => answer?.flags ?? [])));
  const sorts = models.length > 1 ? [...SORTS, ...CHANGE_SORTS] : SORTS;
  return html`<noscript><p class="warn">Browsing the pictures needs scripts to be allowed. Nothing else on this page does.</p></noscript>
<form class="controls" role="search" aria-label="predictions">
<div class="first"><label>Search <input type="search" id="q" placeholder="words, names, distortions" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></label><button type="reset">Reset</button></div>
${select('sort', 'Order', sorts)}
${
  models.length > 1
    ? select(
        'model',
        'Model',
        models.map((name, i) => [String(i), name] as const),
        String(models.length - 1),
      )
    : NOTHING
}
${splits.length > 1 ? select('split', 'Split', [['', 'all'], ...splits.map((name, i) => [String(i), name] as const)], '0') : NOTHING}
${kinds.length > 0 ? select('type', named ? 'Named distortion' : 'Distortion', [['', 'all'], ...(named ? [] : [['-', 'none (pristine)'] as const]), ...kinds.map((type) => [type, spaced(type)] as const)]) : NOTHING}
${select('flag', 'Answer', [['', 'all'], ...orderedFlags(flags).map((flag) => [flag, flag] as const)])}</form>
<p class="note"><output id="count" role="status" for="q">${rows.length} answers</output>
<span class="keys"><kbd>/</kbd> search, <kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> whole answers, <kbd>PgUp</kbd> <kbd>PgDn</kbd> turn pages</span></p>
<ul class="key">${named ? html`<li><mark class="open">named</mark></li>` : html`<li><mark class="right">named rightly</mark></li><li><mark class="wrong">named wrongly</mark></li>`}<li><i class="tick"></i> MOS, ± the raters’ standard deviation</li><li><i class="dot"></i> score</li></ul>
<div class="gallery" id="cards" role="list" aria-label="predictions"></div>
<div class="pager"><button type="button" id="previous">← Previous</button><output id="page"></output><button type="button" id="next">Next →</button></div>
<p class="note">Thumbnails are reduced and compressed: fine distortions look milder here than they are.${
    leftOut === 0 ? '' : ` ${leftOut} answers with smaller errors are left out.`
  }</p>
<script type="application/json" id="gallery-data">${scriptJson(gallery)}</script>
<script type="application/json" id="gallery-pictures">${scriptJson(uris)}</script>`;
}

const orderedFlags = (present: ReadonlySet<string>): string[] => {
  const known: readonly string[] = Object.values(FLAGS);
  const reasons = [...present].filter((flag) => !known.includes(flag)).sort();
  return [...known.filter((flag) => present.has(flag)), ...reasons];
};

const namedTypes = ({ rows }: GalleryData): string[] =>
  [
    ...new Set(
      rows.flatMap(({ answers }) =>
        answers.flatMap((answer) => answer?.named.map((name) => name.replace(/ \d\/5$/, '')) ?? []),
      ),
    ),
  ].sort();

function select(
  id: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen = options[0]![0],
): Html {
  const items = options.map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`,
  );
  return html`<label>${label} <select id="${id}">${items}</select></label>`;
}
