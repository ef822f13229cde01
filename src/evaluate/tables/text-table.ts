import type { Interval, Metric } from '../../metrics/index.ts';

/** A table of text, the first column on the left and numbers on the right. */
export interface TextTable {
  header: string[];
  rows: string[][];
}

export const UNDEFINED = 'undefined';

export const metricCell = (metric: Metric): string =>
  metric.status === 'ok' ? metric.value.toFixed(4) : UNDEFINED;

export const intervalCell = (interval: Interval | null): string =>
  interval?.status === 'ok' ? `[${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]` : '-';

/** Name of the row of all rows together. */
export const ALL = 'all';

/** Text of somebody else's in one line: control characters could move the cursor or break a table. */
export const oneLine = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');

/** Lines of a table in columns of equal width. */
export function alignTable({ header, rows }: TextTable): string[] {
  const all = [header, ...rows].map((cells) => cells.map(oneLine));
  const widths = header.map((_, i) => Math.max(...all.map((cells) => cells[i]!.length)));
  return all.map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  );
}
