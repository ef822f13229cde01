import { join } from 'node:path';
import { z } from 'zod';
import { CheckpointError } from '../core/index.ts';
import { type AdamW, tf } from '../engine/index.ts';
import { loadTrainingState, saveTrainingState } from '../formats/index.ts';
import {
  adapterParameters,
  baseFingerprint,
  baseOf,
  disposeAdapter,
  disposeParameters,
  loadAdapter,
  loadModel,
  saveModel,
  type VisionLanguageModel,
} from '../model/index.ts';
import { watchdogStateSchema } from '../rl/index.ts';
import { algorithmControlStateSchema } from './algorithm-control.ts';
import { unfinishedGroupsSchema } from './partial-rollouts.ts';
import { replayStateSchema } from './replay.ts';

/** What a stage needs besides weights to continue to the bit; all else is a pure function of seed and step. */
const stateSchema = z.strictObject({
  step: z.int().min(0),
  optimizerStep: z.int().min(0),
  guard: z.strictObject({ skipped: z.int().min(0), consecutive: z.int().min(0) }),
  control: algorithmControlStateSchema.optional(),
  watchdogs: watchdogStateSchema.optional(),
  difficulty: z.strictObject({ recent: z.record(z.string(), z.array(z.number())) }).optional(),
  replay: replayStateSchema.optional(),
  unfinished: unfinishedGroupsSchema.optional(),
});
export type StageState = z.infer<typeof stateSchema>;

export const MODEL_FOLDER = 'model';

/**
 * Writes a whole checkpoint: the model as a Hugging Face folder (F32, so that training continues from the very
 * same weights) or, of an adapted model, the adapter alone; optimiser moments, extra variables of the stage, and the counters.
 */
export async function saveStage(
  folder: string,
  model: VisionLanguageModel,
  optimizer: AdamW,
  state: Omit<StageState, 'optimizerStep'>,
  extra: ReadonlyMap<string, tf.Variable> = new Map(),
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await saveModel(model, join(folder, MODEL_FOLDER), { dtype: 'F32', metadata });
  const moments = await optimizer.exportState();
  const variables: Record<string, Float32Array> = {};
  for (const [name, variable] of extra) variables[name] = Float32Array.from(await variable.data());
  await saveTrainingState(
    folder,
    { optimizer: moments.tensors, extra: variables },
    { ...state, optimizerStep: moments.step },
  );
}

/** Restores weights and extra variables in place, and returns what the optimiser and the loop need. */
export async function restoreStage(
  folder: string,
  model: VisionLanguageModel,
  extra: ReadonlyMap<string, tf.Variable> = new Map(),
): Promise<{ state: StageState; restoreOptimizer: (optimizer: AdamW) => void }> {
  const { tensors, state } = await loadTrainingState(folder, stateSchema);
  await restoreWeights(join(folder, MODEL_FOLDER), model);
  for (const [name, variable] of extra) {
    const values = tensors.extra?.[name];
    if (values === undefined || values.length !== variable.size) {
      throw new CheckpointError(`${folder} does not hold ${name} of ${variable.size} numbers`);
    }
    tf.tidy(() => variable.assign(tf.tensor(values, variable.shape)));
  }
  return {
    state,
    restoreOptimizer: (optimizer) =>
      optimizer.importState({ step: state.optimizerStep, tensors: tensors.optimizer ?? {} }),
  };
}

/** Of an adapted model the adapter alone: it is all that a checkpoint holds, and all that has changed. */
async function restoreWeights(folder: string, model: VisionLanguageModel): Promise<void> {
  const { adapter } = model.parameters;
  if (adapter !== undefined) {
    const saved = await loadAdapter(folder, model.config, await baseFingerprint(baseOf(model)));
    assignAll(adapterParameters(adapter), adapterParameters(saved), folder);
    disposeAdapter(saved);
    return;
  }
  const saved = await loadModel(folder);
  assignAll(model.parameters, saved.parameters, folder);
  disposeParameters(saved.parameters);
}

function assignAll(
  variables: ReadonlyMap<string, tf.Variable>,
  saved: ReadonlyMap<string, tf.Variable>,
  folder: string,
): void {
  for (const [name, variable] of variables) {
    const value = saved.get(name);
    if (value === undefined) throw new CheckpointError(`${folder} has no tensor ${name}`);
    variable.assign(value);
  }
}
