import { resolve } from 'node:path';
import type { Comparison, ComparisonReport, ModelReport } from '../../evaluate/index.ts';
import type { StageResult } from '../../train/index.ts';
import { DEMO_FOLDER } from './default-model.ts';
import { whyThisStep } from './stage-result.ts';
import { showMetric, showShare } from './summary-table.ts';

/** Below this share of readable answers the correlations speak of a selection. */
const ENOUGH_READABLE = 0.9;

/** The small table at the end of the demo, and what to keep in mind when reading it. */
export function resultLines(
  models: readonly ModelReport[],
  comparisons: readonly ComparisonReport[],
): string[] {
  const lines: string[] = [];
  for (const { split, result } of comparisons) {
    const all = result.images + result.dropped;
    lines.push(
      result.dropped === 0
        ? `${split} (${all} images)`
        : `${split} (${result.images} of ${all} images have a score from both)`,
    );
    for (const { name, splits } of models) {
      const { summary } = splits.find((entry) => entry.split === split)!;
      const cells = [
        `SRCC ${showMetric(summary.srcc.value)}`,
        `PLCC ${showMetric(summary.plcc.value)}`,
        `level fits score ${showShare(summary.consistency.agreeing)} (score std ${showMetric(summary.consistency.scoreStd)})`,
        `distortion ${showShare(summary.naming.firstNamed)}`,
        `format ${showShare(summary.format)}`,
        ...(summary.scored < summary.n ? [`scored ${summary.scored} of ${summary.n}`] : []),
      ];
      lines.push(`  ${name.padEnd(12)} ${cells.join(', ')}`);
    }
    lines.push(`  ${'difference'.padEnd(12)} ${change('SRCC', result.srcc)}, ${change('PLCC', result.plcc)}`);
  }
  return [...lines, ...readabilityWarnings(models)];
}

function readabilityWarnings(models: readonly ModelReport[]): string[] {
  return models.flatMap(({ name, splits }) =>
    splits.flatMap(({ split, summary: { scored, n } }) =>
      scored < ENOUGH_READABLE * n
        ? [
            `warning: ${name}, ${split}: only ${scored} of ${n} answers have a score; the figures are about those alone`,
          ]
        : [],
    ),
  );
}

function change(name: string, { difference, interval }: Comparison['srcc']): string {
  const range = interval.status === 'ok' ? ` [${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]` : '';
  const value =
    difference.status === 'ok' ? `${difference.value >= 0 ? '+' : ''}${difference.value.toFixed(3)}` : 'none';
  return `${name} ${value}${range}`;
}

/** Which weights a stage kept, for the report. */
export const chosenStep = (result: Pick<StageResult, 'step' | 'validation'>, steps: number): string =>
  `step ${result.step} of ${steps}, ${whyThisStep(result)}`;

/** Said plainly where the second stage brought nothing; undefined where it did. */
export const keptColdStart = ({ step }: Pick<StageResult, 'step'>): string | undefined =>
  step === 0
    ? 'GRPO did not improve the validation correlation: Q-Ponder is the cold start (step 0)'
    : undefined;

/** How to score pictures with the model that was trained. "score" finds it by itself in the default folder. */
export function howToScore(model: string, output: string): string {
  if (resolve(output) === resolve(DEMO_FOLDER))
    return `model:  ${model}   (q-ponder score photo.jpg uses it)`;
  const path = /^[\w./-]+$/.test(model) ? model : `'${model.replaceAll("'", "'\\''")}'`;
  return `model:  ${model}\nto use it: q-ponder score photo.jpg --model ${path}`;
}
