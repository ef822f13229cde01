import { ConfigError, type Rng } from '../core/index.ts';
import type { tf } from '../engine/index.ts';
import {
  adapterParameters,
  copyAdapter,
  createAdapter,
  disposeAdapter,
  type LoraSettings,
  loraTargets,
  type VisionLanguageModel,
  withoutAdapter,
} from '../model/index.ts';
import { PictureFeatures } from './picture-features.ts';
import { trainableNames } from './trainable.ts';
import { pickParameters } from './trainee.ts';

/**
 * Gives the model the adapter that the settings ask for. A model that is adapted already goes on training its own
 * adapter, which the settings may only repeat; ConfigError where they say something else.
 */
export function adapt(model: VisionLanguageModel, settings: LoraSettings | null, rng: Rng): void {
  if (settings === null) return;
  const { adapter } = model.parameters;
  if (adapter === undefined) {
    model.parameters.adapter = createAdapter(model.config, settings, rng);
    return;
  }
  const problems: string[] = [];
  for (const key of ['rank', 'alpha', 'rsLora'] as const) {
    if (adapter[key] !== settings[key])
      problems.push(`lora.${key} is ${settings[key]}, the adapter's ${adapter[key]}`);
  }
  const wanted = [...loraTargets(model.config, settings).keys()];
  if (wanted.length !== adapter.pairs.size || wanted.some((layer) => !adapter.pairs.has(layer))) {
    problems.push(
      `lora.targets, vision and merger name ${wanted.length} layers, the adapter has ${adapter.pairs.size}`,
    );
  }
  if (problems.length > 0) {
    throw new ConfigError(
      `the model ${model.folder} is an adapter of other settings:\n${problems.map((p) => `  ${p}`).join('\n')}`,
      {
        hint: 'leave lora out to train the adapter further, or merge it first (q-ponder model merge) to begin a new one',
      },
    );
  }
  adapter.dropout = settings.dropout;
}

/**
 * What a stage trains, by name: the adapter alone where there is one, otherwise all that is not frozen.
 *
 * @param note is told once where `freeze` says something else than what the adapter does
 */
export function trainedParameters(
  { parameters }: VisionLanguageModel,
  freeze: { vision: boolean; merger: boolean },
  note: (line: string) => void = () => undefined,
): Map<string, tf.Variable> {
  const { adapter } = parameters;
  if (adapter === undefined) return pickParameters(parameters, trainableNames(parameters.keys(), freeze));
  const line = freezePassedOver([...adapter.pairs.keys()], freeze);
  if (line !== null) note(line);
  return adapterParameters(adapter);
}

/** As with PEFT, an adapter decides what is trained. Where `freeze` says otherwise this is said; else null. */
function freezePassedOver(
  layers: readonly string[],
  freeze: { vision: boolean; merger: boolean },
): string | null {
  const ofMerger = (layer: string): boolean => layer.startsWith('visual.merger.');
  const adapted = {
    vision: layers.some((layer) => layer.startsWith('visual.') && !ofMerger(layer)),
    merger: layers.some(ofMerger),
  };
  const parts = (['vision', 'merger'] as const)
    .filter((part) => adapted[part] === freeze[part])
    .map((part) =>
      adapted[part]
        ? `freeze.${part} is true, but the adapter has layers there and they are trained`
        : `freeze.${part} is false, but the adapter has no layers there and nothing else is trained`,
    );
  if (parts.length === 0) return null;
  return `freeze is passed over: ${parts.join('; ')} (lora.vision and lora.merger decide)`;
}

/** Whether a picture's embeddings stay the same while these parameters are trained. */
export const picturesStay = (trained: ReadonlyMap<string, unknown>): boolean =>
  ![...trained.keys()].some((name) => name.startsWith('visual.'));

/** Room for encoded pictures where they stay the same and the whole picture is seen; otherwise none. */
export function pictureFeaturesOf(
  model: VisionLanguageModel,
  trained: ReadonlyMap<string, unknown>,
  pictureCache: number | null,
): PictureFeatures | null {
  const megabytes = pictureCache ?? (model.parameters.adapter === undefined ? 0 : 512);
  if (megabytes === 0 || !picturesStay(trained) || model.processor.views !== null) return null;
  return new PictureFeatures(model, megabytes * 2 ** 20);
}

/**
 * The starting policy of an adapted model, to be kept as it is: the same weights, under a copy of the adapter or,
 * where the adapter is new and changes nothing yet, under none. Dispose it with `disposeReference`.
 */
export function adaptedReference(model: VisionLanguageModel, isNew: boolean): VisionLanguageModel {
  const { adapter } = model.parameters;
  const parameters = withoutAdapter(model.parameters);
  if (adapter !== undefined && !isNew) parameters.adapter = copyAdapter(adapter);
  return { ...model, parameters };
}

/** Disposes what a reference does not share with the model it stands beside. */
export function disposeReference(reference: VisionLanguageModel, model: VisionLanguageModel): void {
  const { adapter } = reference.parameters;
  if (adapter !== undefined) disposeAdapter(adapter);
  for (const [name, variable] of reference.parameters) {
    if (model.parameters.get(name) !== variable) variable.dispose();
  }
}
