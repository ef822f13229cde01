import type { TopLevelSpec } from 'vega-lite';
import { Html } from './html.ts';

/** Colours of series, in order; the style sheet gives each a light and a dark value. */
export const SERIES_COLORS = Array.from({ length: 8 }, (_, i) => `var(--series-${i + 1})`);

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

/** Renders a Vega-Lite specification to inline SVG, without a DOM. */
export async function renderChart(spec: TopLevelSpec): Promise<Html> {
  // Loaded on first use: Vega is large, and only reports need it.
  const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
  const compiled = vegaLite.compile({ ...spec, config: CONFIG } as TopLevelSpec).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: 'none', logLevel: vega.Error });
  try {
    return new Html(await view.toSVG());
  } finally {
    view.finalize();
  }
}
