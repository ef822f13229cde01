import { InputError } from '../core/index.ts';
import type { RenderedPrompt } from '../data/index.ts';
import { type Metric, mae, plcc, srcc } from '../metrics/index.ts';
import type { VisionLanguageModel } from '../model/index.ts';
import { scoreImages } from '../scoring/index.ts';
import type { Examples } from './pictures.ts';

/** What a stage logs about the validation split, by name. A value that does not exist is left out. */
export async function validate(
  model: VisionLanguageModel,
  prompt: RenderedPrompt,
  { records, images }: Examples,
  options: { maxNewTokens: number },
): Promise<Record<string, number>> {
  const results = await scoreImages(model, prompt, images, {
    mode: 'greedy',
    maxNewTokens: options.maxNewTokens,
  });
  const scores: number[] = [];
  const targets: number[] = [];
  let consistent = 0;
  let wellFormed = 0;
  results.forEach((result, index) => {
    if (result.wellFormed) wellFormed++;
    if (result.score === null) return;
    if (result.levelStated === result.level) consistent++;
    scores.push(result.score);
    targets.push(requireMos(records[index]!));
  });
  const values: Record<string, number> = {
    'validation/format': wellFormed / results.length,
    'validation/scored': scores.length / results.length,
  };
  const record = (name: string, metric: Metric): void => {
    if (metric.status === 'ok') values[`validation/${name}`] = metric.value;
  };
  record('srcc', srcc(scores, targets));
  record('plcc', plcc(scores, targets));
  record('mae', mae(scores, targets));
  if (scores.length > 0) {
    values['validation/consistency'] = consistent / scores.length;
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    values['validation/scoreStd'] = Math.sqrt(
      scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length,
    );
  }
  return values;
}

/**
 * The one number that chooses the best checkpoint: the mean of SRCC and PLCC on the validation split. Without
 * a correlation (a constant answer) there is no value, and the checkpoint is not a candidate.
 */
export function selectionValue(values: Record<string, number>): number | null {
  const s = values['validation/srcc'];
  const p = values['validation/plcc'];
  return s === undefined || p === undefined ? null : (s + p) / 2;
}

export function requireMos({ id, mos }: { id: string; mos: number | null }): number {
  if (mos === null) {
    throw new InputError(`image ${id} has no MOS`, {
      hint: 'leave images without a score out of this split',
    });
  }
  return mos;
}

/** Finds an image without a MOS before any step is paid for. */
export function requireScores({ records }: Pick<Examples, 'records'>): void {
  for (const record of records) requireMos(record);
}

/** One line for people. */
export function describeValidation(values: Record<string, number>): string {
  const show = (name: string): string => values[`validation/${name}`]?.toFixed(3) ?? 'none';
  return `validation SRCC ${show('srcc')}, PLCC ${show('plcc')}, consistency ${show('consistency')}, format ${show('format')}, score std ${show('scoreStd')}`;
}
