import { describe, expect, test } from 'vitest';
import { stackPatches, type VisionConfig, visionPlan } from '../../src/model/index.ts';
import { tinyConfig } from './tiny.ts';

const vision = tinyConfig().vision; // windows of 2x2 merge units

/**
 * Qwen2.5-VL's own way: pad the merged grid to whole windows (a whole empty row and column of windows when
 * it divides already), cut it into windows, drop the padding. Returns the units of each non-empty window.
 */
function paddedWindows(rows: number, columns: number, side: number): number[][] {
  const padRows = side - (rows % side);
  const padColumns = side - (columns % side);
  const windows: number[][] = [];
  for (let wy = 0; wy < (rows + padRows) / side; wy++) {
    for (let wx = 0; wx < (columns + padColumns) / side; wx++) {
      const units: number[] = [];
      for (let y = 0; y < side; y++) {
        for (let x = 0; x < side; x++) {
          const [row, column] = [wy * side + y, wx * side + x];
          units.push(row < rows && column < columns ? row * columns + column : -100);
        }
      }
      const kept = units.filter((unit) => unit !== -100);
      if (kept.length > 0) windows.push(kept);
    }
  }
  return windows;
}

/** The windows of a plan, in units, sorted by their first unit. */
function plannedWindows(grid: { h: number; w: number }, config: VisionConfig): number[][] {
  const plan = visionPlan(grid, config);
  const windows: number[][] = [];
  for (const { start, windows: count, length } of plan.groups) {
    for (let k = 0; k < count; k++) {
      const patches = plan.order.slice(start + k * length, start + (k + 1) * length);
      windows.push([...patches].filter((p) => p % 4 === 0).map((p) => p / 4));
    }
  }
  return windows.sort((a, b) => a[0]! - b[0]!);
}

describe('visionPlan', () => {
  test.each([
    [3, 5],
    [2, 2],
    [1, 1],
    [4, 6],
    [5, 4],
    [1, 7],
  ])('windows of a %i x %i merged grid', (rows, columns) => {
    expect(plannedWindows({ h: rows * 2, w: columns * 2 }, vision)).toEqual(
      paddedWindows(rows, columns, 2).sort((a, b) => a[0]! - b[0]!),
    );
  });

  test('a grid that windows divide is one group', () => {
    expect(visionPlan({ h: 8, w: 8 }, vision).groups).toEqual([{ start: 0, windows: 4, length: 16 }]);
  });

  test('restore undoes the order of units', () => {
    const plan = visionPlan({ h: 6, w: 10 }, vision);
    const units = Array.from({ length: plan.tokens }, (_, i) => plan.order[plan.restore[i]! * 4]! / 4);
    expect(units).toEqual(Array.from({ length: 15 }, (_, i) => i));
  });

  test('rotary angles of one patch by hand', () => {
    // Grid 4 x 6: patch row 7 of the processor is unit 1 (row 0, column 1), patch 3 in it: y = 1, x = 3.
    const plan = visionPlan({ h: 4, w: 6 }, vision);
    const at = plan.order.indexOf(7) * 8;
    const angles = [1, 1 / 100, 3, 3 / 100]; // head size 8: two frequencies 1, 10000^(-1/2) per axis
    angles.forEach((angle, i) => {
      expect(plan.cos[at + i]).toBeCloseTo(Math.cos(angle), 6);
      expect(plan.cos[at + 4 + i]).toBeCloseTo(Math.cos(angle), 6);
      expect(plan.sin[at + i]).toBeCloseTo(-Math.sin(angle), 6);
      expect(plan.sin[at + 4 + i]).toBeCloseTo(Math.sin(angle), 6);
    });
  });
});

test('stackPatches puts whole rows into plan order', () => {
  const plan = visionPlan({ h: 4, w: 6 }, vision);
  const image = (offset: number) => ({
    grid: plan.grid,
    patches: Float32Array.from({ length: 24 * 2 }, (_, i) => offset + i),
  });
  const stacked = stackPatches([image(0), image(100)], plan);
  const expected = [0, 100].flatMap((offset) =>
    [...plan.order].flatMap((row) => [offset + 2 * row, offset + 2 * row + 1]),
  );
  expect([...stacked]).toEqual(expected);
});
