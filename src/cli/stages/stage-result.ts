import type { StageResult } from '../../train/index.ts';

/** Why a stage recommends the weights of this step. */
export const whyThisStep = ({ validation }: Pick<StageResult, 'validation'>): string =>
  validation === undefined
    ? 'the last step; no validation gave a correlation'
    : `best on the validation split, (SRCC + PLCC) / 2 = ${validation.toFixed(3)}`;

/** One line that names the model a stage recommends, and why. */
export const describeStageResult = (result: StageResult): string =>
  `${result.model}: weights of step ${result.step} (${whyThisStep(result)})`;
