/** A cell of a two-dimensional histogram; cells without a point are left out. */
export interface DensityCell {
  x: number;
  x2: number;
  y: number;
  y2: number;
  count: number;
}

export interface DensityGrid {
  x: { low: number; high: number };
  y: { low: number; high: number };
  /** Width and height of a cell, on the scale of the values. */
  size: number;
}

/** Counts points in square cells. A point on the upper end belongs to the last cell; one outside is a RangeError. */
export function densityCells(
  points: readonly { x: number; y: number }[],
  { x, y, size }: DensityGrid,
): DensityCell[] {
  const columns = Math.round((x.high - x.low) / size);
  const rows = Math.round((y.high - y.low) / size);
  const index = (value: number, { low, high }: DensityGrid['x'], cells: number): number => {
    if (!(value >= low && value <= high)) throw new RangeError(`got ${value}, allowed is ${low} to ${high}`);
    // The small term keeps 1.8, 2.6, ... on the upper side in spite of binary rounding.
    return Math.min(cells - 1, Math.floor((value - low) / size + 1e-9));
  };
  const counts = new Map<number, number>();
  for (const point of points) {
    const key = index(point.x, x, columns) * rows + index(point.y, y, rows);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const at = (low: number, i: number) => Number((low + i * size).toFixed(6));
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([key, count]) => {
      const [column, row] = [Math.floor(key / rows), key % rows];
      return {
        x: at(x.low, column),
        x2: at(x.low, column + 1),
        y: at(y.low, row),
        y2: at(y.low, row + 1),
        count,
      };
    });
}

/** The layer that draws cells: the more points, the more opaque. */
export const densityLayer = (cells: readonly DensityCell[], color: string) => {
  const most = cells.reduce((largest, { count }) => Math.max(largest, count), 1);
  return {
    data: { values: [...cells] },
    mark: { type: 'rect' as const, fill: color },
    encoding: {
      x2: { field: 'x2' },
      y2: { field: 'y2' },
      opacity: {
        field: 'count',
        type: 'quantitative' as const,
        scale: { type: 'sqrt' as const, domain: [0, most], range: [0.12, 0.95] },
        legend: null,
      },
    },
  };
};
