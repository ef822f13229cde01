import { join } from 'node:path';
import { z } from 'zod';
import { CheckpointError, textIfPresent, writeFileAtomic } from '../core/index.ts';

/** In the folder of a model, beside its weights. */
export const TRAINING_IMAGES_FILE = 'training-images.json';

const hash = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal');
/** So many digits tell images apart (64 bits), and keep the list of a large data set a quarter of the size. */
const IMAGE_DIGITS = 16;
const imageHash = z.string().regex(/^[0-9a-f]{16}$/, `the first ${IMAGE_DIGITS} digits of a SHA-256`);

/** What a list holds of an image: the beginning of the SHA-256 of its file. */
export const imageKey = (sha256: string): string => sha256.slice(0, IMAGE_DIGITS);

const stageImagesSchema = z.strictObject({
  /** Name of the stage: base, cold-start, grpo. */
  stage: z.string().min(1),
  /** Name of the data set. */
  dataset: z.string().min(1),
  /** Learnt from, or used to choose the checkpoint. */
  use: z.enum(['train', 'validation']),
  /** SHA-256 of the data set's records.jsonl. */
  recordsSha256: hash,
  /** `imageKey` of each image file, sorted, each once. */
  images: z.array(imageHash),
});
export type StageImages = z.infer<typeof stageImagesSchema>;

/**
 * The images that a model has seen, of all stages behind it, the first one first. Each stage copies the list of the
 * model it starts from and adds its own.
 */
export const trainingImagesSchema = z.strictObject({
  format: z.literal(1),
  /** False where a stage started from weights without such a list: what those have seen is unknown. */
  complete: z.boolean(),
  stages: z.array(stageImagesSchema),
});
export type TrainingImages = z.infer<typeof trainingImagesSchema>;

/** The list of a model folder; null where it has none. A list that cannot be read is a CheckpointError. */
export async function readTrainingImages(folder: string): Promise<TrainingImages | null> {
  const path = join(folder, TRAINING_IMAGES_FILE);
  const text = await textIfPresent(path);
  if (text === null) return null;
  try {
    return trainingImagesSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new CheckpointError(`${path} is no list of training images`, {
      hint: 'restore it from the run that wrote it, or remove it: leakage can then not be checked',
      cause: error,
    });
  }
}

/** Writes the list into a model folder. */
export const writeTrainingImages = (folder: string, training: TrainingImages): Promise<void> =>
  writeFileAtomic(join(folder, TRAINING_IMAGES_FILE), `${JSON.stringify(training)}\n`);
