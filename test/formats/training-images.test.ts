import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  imageKey,
  readTrainingImages,
  TRAINING_IMAGES_FILE,
  type TrainingImages,
  writeTrainingImages,
} from '../../src/formats/index.ts';

const training: TrainingImages = {
  format: 1,
  complete: true,
  stages: [
    {
      stage: 'base',
      dataset: 'a',
      use: 'train',
      recordsSha256: 'f'.repeat(64),
      images: ['1'.repeat(16), '2'.repeat(16)],
    },
  ],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'training-images-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the list of training images', () => {
  it('absent is null', async () => {
    expect(await readTrainingImages(join(folder, 'nowhere'))).toBeNull();
  });

  it('is read as written', async () => {
    await writeTrainingImages(folder, training);
    expect(await readTrainingImages(folder)).toEqual(training);
  });

  it.each([
    ['cut', '{"format":1,'],
    ['a short hash', JSON.stringify({ ...training, stages: [{ ...training.stages[0], images: ['ab'] }] })],
    ['of another format', JSON.stringify({ ...training, format: 2 })],
  ])('%s is a CheckpointError, not "unknown"', async (_what, content) => {
    await writeFile(join(folder, TRAINING_IMAGES_FILE), content);
    await expect(readTrainingImages(folder)).rejects.toMatchObject({ code: 'CHECKPOINT' });
  });

  it('an image is known by the first 64 bits of its hash', () => {
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(imageKey(empty)).toBe('e3b0c44298fc1c14');
  });
});
