import { InputError, type Progress, worstScore } from '../core/index.ts';
import type { RenderedPrompt } from '../data/index.ts';
import { type Metric, mae, plcc, srcc } from '../metrics/index.ts';
import type { VisionLanguageModel } from '../model/index.ts';
import { type ScoringMode, scoreImages } from '../scoring/index.ts';
import type { Examples } from './pictures.ts';

/** What a stage logs about the validation split, by name. A value that does not exist is left out. */
export async function validate(
  model: VisionLanguageModel,
  prompt: RenderedPrompt,
  { records, images }: Examples,
  options: { maxNewTokens: number; validationMode: ScoringMode },
): Promise<Record<string, number>> {
  const results = await scoreImages(model, prompt, images, {
    mode: options.validationMode,
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
  if (scores.length > 0 && scores.length < results.length) {
    const all = records.map(requireMos);
    const harsh = results.map(({ score }, index) => score ?? worstScore(all[index]!));
    record('srccAll', srcc(harsh, all));
    record('plccAll', plcc(harsh, all));
  }
  if (scores.length > 0) {
    values['validation/consistency'] = consistent / scores.length;
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    values['validation/scoreStd'] = Math.sqrt(
      scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length,
    );
  }
  return values;
}

/** A checkpoint that answers fewer of the validation images is no candidate, however well those few correlate. */
const LEAST_COVERAGE = 0.9;
/** A correlation over fewer images is chance: at n = 9 the 95 % interval of r = 0.6 still holds 0. */
const LEAST_SCORED = 10;

/**
 * The one number that chooses the best checkpoint: the mean of SRCC and PLCC on the validation split of `images`
 * images. There is no value, and the checkpoint is not a candidate, without a correlation (a constant answer)
 * and where too few images have a score. An image without a score counts as the one that is most wrong for it, so
 * that a model that answers only what it finds easy does not win over one that answers everything.
 */
export function selectionValue(values: Record<string, number>, images: number): number | null {
  const s = values['validation/srccAll'] ?? values['validation/srcc'];
  const p = values['validation/plccAll'] ?? values['validation/plcc'];
  if (s === undefined || p === undefined) return null;
  const coverage = values['validation/scored'] ?? 0;
  if (coverage < LEAST_COVERAGE || Math.round(coverage * images) < LEAST_SCORED) return null;
  return (s + p) / 2;
}

/** Says before a run that its validation split is too small to choose a checkpoint. */
export function noteFewImages({ records }: { records: readonly unknown[] }, progress: Progress): void {
  if (records.length >= LEAST_SCORED) return;
  progress.note(
    `${records.length} validation images are too few to choose a checkpoint (at least ${LEAST_SCORED}): the last one will be the result`,
  );
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
  const scored = (100 * (values['validation/scored'] ?? 0)).toFixed(0);
  return `validation SRCC ${show('srcc')}, PLCC ${show('plcc')} on ${scored} % of the images, consistency ${show('consistency')}, format ${show('format')}, score std ${show('scoreStd')}`;
}
