import { join } from 'node:path';
import { CheckpointError } from '../core/index.ts';
import { type RunFolder, type TrainingImages, writeTrainingImages } from '../formats/index.ts';
import { disposeParameters, loadModel, saveModel } from '../model/index.ts';
import { MODEL_FOLDER } from './checkpointing.ts';
import type { StageResult } from './stage.ts';

/** Writes the best checkpoint's weights (the last one's, if none was ever measured) as the run's model folder; an adapter, where one was trained. */
export async function exportBest(
  run: RunFolder,
  folder: string,
  metadata: Readonly<Record<string, string>>,
  seen: TrainingImages,
): Promise<StageResult> {
  const newest = await run.latestCheckpoint();
  if (newest === null) throw new CheckpointError(`${folder} holds no whole checkpoint`);
  const step = run.best?.step ?? newest.step;
  const source = join(folder, 'checkpoints', `step-${String(step).padStart(8, '0')}`, MODEL_FOLDER);
  const model = await loadModel(source);
  const output = join(folder, MODEL_FOLDER);
  await writeTrainingImages(output, seen);
  await saveModel(model, output, { dtype: 'F32', metadata: { ...metadata, step: String(step) } });
  disposeParameters(model.parameters);
  return { model: output, step, ...(run.best === null ? {} : { validation: run.best.value }) };
}
