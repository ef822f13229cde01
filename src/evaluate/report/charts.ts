import type { TopLevelSpec } from 'vega-lite';
import { Html, type HtmlPart, html, NOTHING } from './html.ts';
import { scriptJson } from './script-json.ts';
import { SERIES_COLORS, withLightColors } from './theme.ts';

/** Colours are CSS variables, so that one SVG serves light and dark; sizes are in CSS pixels. */
const CONFIG = {
  background: 'transparent',
  font: 'system-ui, sans-serif',
  aria: false,
  view: { stroke: null },
  axis: {
    labelColor: 'var(--muted)',
    titleColor: 'var(--muted)',
    titleFontWeight: 'normal',
    gridColor: 'var(--grid)',
    domainColor: 'var(--grid)',
    tickColor: 'var(--grid)',
    labelFontSize: 11,
    titleFontSize: 11,
  },
  range: { category: SERIES_COLORS },
} as const;

/** Decimals of the coordinates in a picture: a hundredth of a pixel is not seen. */
const SVG_DECIMALS = 1;

/** Renders a Vega-Lite specification to inline SVG, without a DOM. */
export async function renderChart(spec: TopLevelSpec): Promise<Html> {
  // Loaded on first use: Vega is large, and only reports need it.
  const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
  const compiled = vegaLite.compile({ ...spec, config: CONFIG } as TopLevelSpec).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: 'none', logLevel: vega.Error });
  try {
    return new Html(shorten(await view.toSVG()));
  } finally {
    view.finalize();
  }
}

const shorten = (svg: string): string =>
  svg.replace(/-?\d+\.\d{2,}(?=[,\s")a-zA-Z-])/g, (number) =>
    String(Number(Number(number).toFixed(SVG_DECIMALS))),
  );

export interface ChartFigure {
  /** Unique in the page; names the file of the specification. */
  id: string;
  title: string;
  subtitle?: string;
  /** What the picture says, for those who don't see it. */
  alt: string;
  spec: TopLevelSpec;
  /** A sentence under the picture. */
  note?: HtmlPart;
  /** Names and colours. */
  legend?: readonly { name: string; color: string }[];
  /** Further attributes of the figure, for example data-points. */
  data?: Readonly<Record<string, string | number>>;
}

/** A figure with its picture inline and the specification that it was drawn from beside it. */
export async function chartFigure(figure: ChartFigure): Promise<Html> {
  const { id, title, alt, spec, note, legend, data = {} } = figure;
  const svg = await renderChart(spec);
  const attributes = Object.entries(data).map(([name, value]) => html` data-${new Html(name)}="${value}"`);
  return html`<figure class="chart" id="${id}"${attributes}>${caption(figure)}
<div class="plot" role="img" aria-label="${`${title}: ${alt}`}">${svg}</div>
${legend === undefined ? NOTHING : html`<ul class="legend">${legend.map(({ name, color }) => html`<li style="--swatch: ${color}">${name}</li>`)}</ul>`}
${note === undefined ? NOTHING : html`<p class="note">${note}</p>`}
<script type="application/json" data-spec="${id}">${standaloneSpec(spec)}</script></figure>`;
}

/** A figure that says why it holds no picture. */
export const missingFigure = (
  figure: Pick<ChartFigure, 'title' | 'subtitle' | 'data'>,
  why: string,
): Html => {
  const attributes = Object.entries(figure.data ?? {}).map(
    ([name, value]) => html` data-${new Html(name)}="${value}"`,
  );
  return html`<figure class="chart missing"${attributes}>${caption(figure)}<p>missing: ${why}</p></figure>`;
};

const caption = ({ title, subtitle }: Pick<ChartFigure, 'title' | 'subtitle'>): Html =>
  html`<figcaption>${title}${subtitle === undefined ? NOTHING : html` <small>${subtitle}</small>`}</figcaption>`;

/** The specification as other programs read it: whole, with plain colours on white. */
function standaloneSpec(spec: TopLevelSpec): Html {
  const whole = {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    ...spec,
    config: { ...CONFIG, background: 'white' },
  };
  return scriptJson(JSON.parse(withLightColors(JSON.stringify(whole))));
}

/** A figure's id from words: letters and digits, joined by hyphens, with a number that keeps it unique. */
export class FigureIds {
  #taken = new Map<string, number>();
  next(...words: string[]): string {
    const base = words
      .join('-')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    const count = (this.#taken.get(base) ?? 0) + 1;
    this.#taken.set(base, count);
    return count === 1 ? `figure-${base}` : `figure-${base}-${count}`;
  }
}
