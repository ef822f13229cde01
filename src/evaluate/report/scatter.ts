import { renderChart } from './charts.ts';
import { type Html, html } from './html.ts';
import { intervalText, metricText, scoredText } from './numbers.ts';
import type { SplitReport } from './report-data.ts';

/** MOS against score, one point per prediction with a score, with the identity line and the fitted logistic. */
export async function scatterFigure(
  model: string,
  { split, predictions, summary }: SplitReport,
  color: string,
): Promise<Html> {
  const points = predictions.flatMap(({ mos, score }) => (score === null ? [] : [{ score, mos }]));
  const caption = html`<figcaption>${model} <small>${split}</small></figcaption>`;
  if (points.length === 0) {
    return html`<figure class="chart missing" data-split="${split}">${caption}<p>missing: no prediction has a score</p></figure>`;
  }
  const low = Math.floor(points.reduce((least, { score, mos }) => Math.min(least, score, mos), 1));
  const high = Math.ceil(points.reduce((most, { score, mos }) => Math.max(most, score, mos), 5));
  const axis = (field: 'score' | 'mos', title: string) => ({
    field,
    type: 'quantitative' as const,
    title,
    scale: { domain: [low, high], nice: false },
    axis: { tickCount: high - low, grid: true },
  });
  const curve = logisticCurve(summary.logistic4, low, high).filter(({ mos }) => mos >= low && mos <= high);
  const line = [
    { score: low, mos: low },
    { score: high, mos: high },
  ];
  const encoding = { x: axis('score', 'score'), y: axis('mos', 'MOS') };
  const svg = await renderChart({
    width: 260,
    height: 260,
    layer: [
      {
        data: { values: line },
        mark: { type: 'line', stroke: 'var(--muted)', strokeDash: [5, 4], strokeWidth: 1.5 },
        encoding,
      },
      {
        data: { values: points },
        mark: {
          type: 'circle',
          size: 16,
          fill: color,
          opacity: points.length > 400 ? 0.35 : 0.55,
        },
        encoding,
      },
      {
        data: { values: curve },
        mark: { type: 'line', stroke: 'var(--ink)', strokeWidth: 1.5 },
        encoding,
      },
    ],
  });
  const fit =
    summary.logistic4.status === 'ok'
      ? 'curve: 4-parameter logistic'
      : `no curve: ${summary.logistic4.detail}`;
  return html`<figure class="chart" data-split="${split}" data-points="${points.length}">${caption}${svg}
<p class="note">${scoredText(summary.scored, summary.n)}, ${correlation(summary.srcc)}; dashed: score = MOS; ${fit}</p></figure>`;
}

function correlation({ value, interval }: SplitReport['summary']['srcc']): string {
  if (value.status !== 'ok') return `no SRCC: ${value.detail}`;
  return `SRCC ${metricText(value)} ${intervalText(interval)}`.trimEnd();
}

function logisticCurve(fit: SplitReport['summary']['logistic4'], from: number, to: number) {
  if (fit.status !== 'ok') return [];
  const [b1, b2, b3, b4] = fit.parameters as [number, number, number, number];
  return Array.from({ length: 61 }, (_, i) => {
    const score = from + ((to - from) * i) / 60;
    return { score, mos: (b1 - b2) / (1 + Math.exp(-(score - b3) / b4)) + b2 };
  });
}
