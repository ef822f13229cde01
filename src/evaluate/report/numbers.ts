import type { Interval, Metric, UndefinedBecause } from '../../metrics/index.ts';
import type { Share } from '../naming.ts';
import { type Html, html } from './html.ts';

export const DASH = '–';

export const metricText = (metric: Metric, digits = 3): string =>
  metric.status === 'ok' ? metric.value.toFixed(digits) : 'none';

export const intervalText = (interval: Interval, digits = 3): string =>
  interval.status === 'ok' ? `[${interval.low.toFixed(digits)}, ${interval.high.toFixed(digits)}]` : '';

/** With its sign, unless it rounds to 0. */
export function signed(value: number, digits = 3): string {
  const size = Math.abs(value).toFixed(digits);
  if (Number(size) === 0) return size;
  return (value > 0 ? '+' : '\u2212') + size;
}

/** A signed value and its interval; an interval that shows the value alone at both ends is left out. */
export function signedWithInterval(value: number, interval: Interval): Html {
  if (interval.status !== 'ok') return html`${signed(value)}`;
  const [middle, low, high] = [value, interval.low, interval.high].map((one) => signed(one));
  if (low === middle && high === middle) return html`${middle!}`;
  return html`${middle!} <small>[${low!}, ${high!}]</small>`;
}

/** Below this share of answers with a score, figures over the rest no longer speak of the whole split. */
export const ENOUGH_SCORED = 0.9;

/** How many of the pictures the figures are about, marked where too many are missing. */
export function scoredText(scored: number, n: number): Html {
  const text = scored === n ? `n = ${n}` : `scored ${scored} of ${n}`;
  return scored < ENOUGH_SCORED * n ? html`<strong class="warn">${text}</strong>` : html`${text}`;
}

export const percent = (rate: number): string => `${(100 * rate).toFixed(1)} %`;

/** "too few" of the reason "too-few": what a cell has room for. */
const reasonText = ({ reason }: UndefinedBecause): string =>
  reason === 'nothing-to-count' ? DASH : reason.replaceAll('-', ' ');

/** A value, or in a word why there is none, with the whole reason as a tooltip. */
export const metricCell = (metric: Metric, digits = 3): Html =>
  metric.status === 'ok'
    ? html`${metric.value.toFixed(digits)}`
    : html`<abbr title="${metric.detail}">${reasonText(metric)}</abbr>`;

export const shareCell = ({ rate, count, of }: Share): Html =>
  rate.status === 'ok'
    ? html`${percent(rate.value)} <small>${count}/${of}</small>`
    : html`<abbr title="${rate.detail}">${DASH}</abbr>`;
