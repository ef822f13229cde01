import { join } from 'node:path';
import { CheckpointError } from '../core/index.ts';
import { type RunFolder, type TrainingImages, writeTrainingImages } from '../formats/index.ts';
import {
  baseFingerprint,
  disposeParameters,
  loadAdapter,
  loadModel,
  loadModelFormat,
  type Parameters,
  saveModel,
  type VisionLanguageModel,
} from '../model/index.ts';
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
  const model = await whatIsSaved(source);
  const output = join(folder, MODEL_FOLDER);
  await writeTrainingImages(output, seen);
  await saveModel(model, output, { dtype: 'F32', metadata: { ...metadata, step: String(step) } });
  disposeParameters(model.parameters);
  return { model: output, step, ...(run.best === null ? {} : { validation: run.best.value }) };
}

/** A model; of an adapter the adapter alone, since its base would take memory to be left as it is. */
async function whatIsSaved(folder: string): Promise<VisionLanguageModel> {
  const format = await loadModelFormat(folder);
  if (format.base === undefined) return loadModel(folder);
  const parameters: Parameters = new Map();
  parameters.adapter = await loadAdapter(folder, format.config, await baseFingerprint(format.base));
  return { ...format, parameters };
}
