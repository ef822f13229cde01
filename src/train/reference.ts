import { ConfigError } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import { copyAdapter, loadModel, type VisionLanguageModel, withoutAdapter } from '../model/index.ts';
import type { KlConfig } from '../rl/index.ts';
import { adaptedReference, disposeReference, trainedParameters } from './adapt.ts';

/** The policy that KL is measured to. */
export interface Reference {
  model: VisionLanguageModel;
  /** What follows the policy, by name: part of a checkpoint. Empty for a reference that stays. */
  moving: ReadonlyMap<string, tf.Variable>;
  dispose(): void;
}

/**
 * @param model the policy before its first step
 * @param start folder it was loaded from
 * @param isNew whether the policy's adapter was made for this run and changes nothing yet
 */
export async function openReference(
  model: VisionLanguageModel,
  { kl, start, isNew, freeze }: { kl: KlConfig; start: string; isNew: boolean; freeze: Freeze },
): Promise<Reference> {
  const { adapter } = model.parameters;
  const of = (reference: VisionLanguageModel, moving: Reference['moving'] = new Map()): Reference => ({
    model: reference,
    moving,
    dispose: () => disposeReference(reference, model),
  });
  switch (kl.reference.kind) {
    case 'adapter-off':
      if (adapter === undefined) {
        throw new ConfigError('kl.reference is "adapter-off", but the policy has no adapter', {
          hint: 'set lora, start from an adapter, or use the reference "frozen-start"',
        });
      }
      return of({ ...model, parameters: withoutAdapter(model.parameters) });
    case 'frozen-start':
      return of(adapter === undefined ? await loadModel(start) : adaptedReference(model, isNew));
    case 'synchronised': {
      const copy = adapter === undefined ? await loadModel(start) : withCopyOfAdapter(model);
      return of(copy, trainedParameters(copy, freeze));
    }
    default:
      return kl.reference satisfies never;
  }
}

type Freeze = Parameters<typeof trainedParameters>[1];

/** reference <- mix policy + (1 - mix) reference, at everything that is trained. TR-DPO (arXiv 2404.09656). */
export function synchronise(
  { moving }: Reference,
  trained: ReadonlyMap<string, tf.Variable>,
  mix: number,
): void {
  for (const [name, variable] of moving) {
    const policy = trained.get(name)!;
    tf.tidy(() => {
      variable.assign(mix === 1 ? policy.clone() : tf.add(tf.mul(policy, mix), tf.mul(variable, 1 - mix)));
    });
  }
}

/** Names of the moving part among a checkpoint's extra variables. */
export const movingVariables = (reference: Reference | null): Map<string, tf.Variable> =>
  new Map([...(reference?.moving ?? [])].map(([name, variable]) => [`reference/${name}`, variable]));

function withCopyOfAdapter(model: VisionLanguageModel): VisionLanguageModel {
  const parameters = withoutAdapter(model.parameters);
  parameters.adapter = copyAdapter(model.parameters.adapter!);
  return { ...model, parameters };
}
