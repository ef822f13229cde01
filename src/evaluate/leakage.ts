import { GateError, listNames } from '../core/index.ts';
import { imageKey, type StageImages, TRAINING_IMAGES_FILE, type TrainingImages } from '../formats/index.ts';

export interface TestImage {
  id: string;
  /** SHA-256 of the image file. */
  sha256: string;
}

export interface Leak {
  stage: string;
  dataset: string;
  use: StageImages['use'];
  /** Test images that the stage has seen, byte for byte. */
  ids: string[];
}

export interface LeakageReport {
  /**
   * `clean`: none of the test images was seen. `leak`: some were. `unknown`: the checkpoint has no list, or one that
   * begins in the middle and holds none of them.
   */
  status: 'clean' | 'leak' | 'unknown';
  /** Test images compared. */
  checked: number;
  leaks: Leak[];
}

/**
 * Compares test images with what a model has seen, by the content of the files: a copy under another name is found,
 * a picture that was saved anew is not.
 */
export function findLeaks(training: TrainingImages | null, test: readonly TestImage[]): LeakageReport {
  if (training === null) return { status: 'unknown', checked: 0, leaks: [] };
  const leaks = training.stages.flatMap(({ stage, dataset, use, images }): Leak[] => {
    const seen = new Set(images);
    const ids = test.flatMap(({ id, sha256 }) => (seen.has(imageKey(sha256)) ? [id] : []));
    return ids.length === 0 ? [] : [{ stage, dataset, use, ids }];
  });
  const status = leaks.length > 0 ? 'leak' : training.complete ? 'clean' : 'unknown';
  return { status, checked: test.length, leaks };
}

/** One sentence for people, naming the model and the test images. */
export function describeLeakage(
  { status, checked, leaks }: LeakageReport,
  model: string,
  name: string,
): string {
  if (status === 'clean') return `leakage: none of the ${checked} images of ${name} was seen by ${model}`;
  if (status === 'unknown') {
    const why =
      checked === 0
        ? `it has no ${TRAINING_IMAGES_FILE}`
        : `its ${TRAINING_IMAGES_FILE} does not reach back to its first stage`;
    return `leakage: ${model} against ${name} cannot be checked, as ${why}`;
  }
  const ids = new Set(leaks.flatMap((leak) => leak.ids));
  const where = leaks.map(
    (leak) =>
      `${leak.ids.length} in ${leak.use === 'train' ? 'the training' : 'the validation'} images of ${leak.stage} (${leak.dataset})`,
  );
  return `leakage: ${model} has seen ${ids.size} of the ${checked} images of ${name}: ${where.join(', ')}; for example ${listNames([...ids], 3)}`;
}

/** GateError when a model has seen test images, unless that is allowed. */
export function requireNoLeak(report: LeakageReport, model: string, name: string, allow: boolean): void {
  if (report.status !== 'leak' || allow) return;
  throw new GateError(describeLeakage(report, model, name), {
    hint: 'take these images out of the test split, or measure all the same with --allow-leakage (it is recorded)',
  });
}
