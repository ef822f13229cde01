import type { Interval, Metric } from '../../metrics/index.ts';
import type { Share } from '../naming.ts';
import { type Html, html } from './html.ts';

export const DASH = '–';

export const metricText = (metric: Metric, digits = 3): string =>
  metric.status === 'ok' ? metric.value.toFixed(digits) : 'undefined';

export const intervalText = (interval: Interval, digits = 3): string =>
  interval.status === 'ok' ? `[${interval.low.toFixed(digits)}, ${interval.high.toFixed(digits)}]` : '';

/** With a sign that survives rounding: 0.0001 at two digits is ±0.00. */
export function signed(value: number, digits = 3): string {
  const size = Math.abs(value).toFixed(digits);
  const sign = Number(size) === 0 ? '\u00B1' : value > 0 ? '+' : '\u2212';
  return sign + size;
}

const percent = (rate: number): string => `${(100 * rate).toFixed(1)} %`;

/** A value, or "undefined" with the reason as a tooltip. */
export const metricCell = (metric: Metric, digits = 3): Html =>
  metric.status === 'ok'
    ? html`${metric.value.toFixed(digits)}`
    : html`<abbr title="${metric.detail}">undefined</abbr>`;

export const shareCell = ({ rate, count, of }: Share): Html =>
  rate.status === 'ok'
    ? html`${percent(rate.value)} <small>${count}/${of}</small>`
    : html`<abbr title="${rate.detail}">${DASH}</abbr>`;
