import { type Html, html, NOTHING } from './html.ts';
import type { EventRow } from './report-data.ts';

/** Vertical lines of a picture: the events of a step, by their numbers in the stage's list. */
export interface EventMark {
  step: number;
  label: string;
}

/** Where the events that speak of some series are marked, in the order of the steps. */
export function eventMarks(events: readonly EventRow[], series: readonly string[]): EventMark[] {
  const numbers = new Map<number, number[]>();
  events.forEach(({ step, metrics = [] }, i) => {
    if (metrics.some((name) => series.includes(name)))
      numbers.set(step, [...(numbers.get(step) ?? []), i + 1]);
  });
  return [...numbers].sort(([a], [b]) => a - b).map(([step, list]) => ({ step, label: list.join(', ') }));
}

/** The layers that draw marks: dashed lines with their numbers beside the upper end. */
export const markLayers = (marks: readonly EventMark[]) => {
  if (marks.length === 0) return [];
  const x = { field: 'step', type: 'quantitative' as const };
  return [
    {
      data: { values: [...marks] },
      mark: { type: 'rule' as const, stroke: 'var(--worse)', strokeWidth: 1, strokeDash: [4, 3] },
      encoding: { x },
    },
    {
      data: { values: [...marks] },
      mark: {
        type: 'text' as const,
        fill: 'var(--worse)',
        fontSize: 10,
        align: 'left' as const,
        baseline: 'top' as const,
        dx: 3,
      },
      encoding: { x, y: { value: 0 }, text: { field: 'label' } },
    },
  ];
};

/** More events than these are folded away. */
const MOST_OPEN = 5;

/** What was out of the ordinary in a stage, numbered as in its pictures. */
export function eventList(events: readonly EventRow[]): Html {
  if (events.length === 0) return NOTHING;
  const items = events.map(
    ({ step, message, watchdog, action }) =>
      html`<li><b>step ${step}</b>${watchdog === undefined ? NOTHING : html` <small>${watchdog}${action === undefined ? NOTHING : `, ${action}`}</small>`}<br>${message}</li>`,
  );
  return html`<details class="events"${events.length > MOST_OPEN ? NOTHING : html` open`}><summary>${events.length} event(s), marked in the pictures</summary><ol>${items}</ol></details>`;
}
