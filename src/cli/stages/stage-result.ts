import type { StageResult } from '../../train/index.ts';

/** One line that names the model a stage recommends, and why. */
export function describeStageResult({ model, step, validation }: StageResult): string {
  const why =
    validation === undefined
      ? 'the last step; no validation gave a correlation'
      : `best on the validation split, (SRCC + PLCC) / 2 = ${validation.toFixed(3)}`;
  return `${model}: weights of step ${step} (${why})`;
}
