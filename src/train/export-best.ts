import { join } from 'node:path';
import { CheckpointError } from '../core/index.ts';
import { type RunFolder, type TrainingImages, writeTrainingImages } from '../formats/index.ts';
import {
  baseFingerprint,
  copyModel,
  disposeAdapter,
  loadAdapter,
  loadModelFormat,
  type ModelFormat,
  type Parameters,
  type SaveOptions,
  saveModel,
} from '../model/index.ts';
import { MODEL_FOLDER } from './checkpointing.ts';
import type { StageResult } from './stage.ts';

/**
 * Writes the best checkpoint's weights (the last one's, if none was ever measured) as the run's model folder; an
 * adapter, where one was trained.
 *
 * @param base of an adapter: the checkpoint may name the place from which it has been moved since
 */
export async function exportBest(
  run: RunFolder,
  folder: string,
  metadata: Readonly<Record<string, string>>,
  seen: TrainingImages,
  base?: string,
): Promise<StageResult> {
  const newest = await run.latestCheckpoint();
  if (newest === null) throw new CheckpointError(`${folder} holds no whole checkpoint`);
  const step = run.best?.step ?? newest.step;
  const source = join(folder, 'checkpoints', `step-${String(step).padStart(8, '0')}`, MODEL_FOLDER);
  const output = join(folder, MODEL_FOLDER);
  await writeTrainingImages(output, seen);
  const options = { dtype: 'F32', metadata: { ...metadata, step: String(step) } } as const;
  const format = await loadModelFormat(source, base);
  if (format.base === undefined) await copyModel(source, output, options);
  else await copyAdapter({ ...format, base: format.base }, output, options);
  return { model: output, step, ...(run.best === null ? {} : { validation: run.best.value }) };
}

/** The adapter alone: its base would take memory to be left as it is. */
async function copyAdapter(
  format: ModelFormat & { base: string },
  output: string,
  options: SaveOptions,
): Promise<void> {
  const adapter = await loadAdapter(format.folder, format.config, await baseFingerprint(format.base));
  const parameters: Parameters = new Map();
  parameters.adapter = adapter;
  await saveModel({ ...format, parameters }, output, options);
  disposeAdapter(adapter);
}
