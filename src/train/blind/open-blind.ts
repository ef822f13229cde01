import { loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../../data/index.ts';
import type { VisionLanguageModel } from '../../model/index.ts';
import type { GrpoConfig } from '../grpo.config.ts';
import { openReference, type Reference } from '../reference.ts';
import { BlindScorer } from './blind-scorer.ts';

export interface Blind {
  scorer: BlindScorer;
  prompt: RenderedPrompt;
  dispose(): void;
}

/**
 * What blind consistency needs, where it has a weight: the policy as it started. The reference of KL serves, if that is
 * what it is; another one is opened here.
 *
 * @param model the policy before its first step
 * @param isNew whether the policy's adapter was made for this run and changes nothing yet
 */
export async function openBlind(
  { rubric, blindPrompt, kl, model: start, freeze }: GrpoConfig,
  model: VisionLanguageModel,
  { isNew, reference }: { isNew: boolean; reference: Reference | null },
): Promise<Blind | null> {
  if (rubric.consistency.blind.weight === 0) return null;
  const prompt = renderPrompt(await loadShippedPrompt(blindPrompt));
  const isStart = reference !== null && kl.reference.kind === 'frozen-start';
  const own = isStart
    ? null
    : await openReference(model, {
        kl: { ...kl, reference: { kind: 'frozen-start' } },
        start,
        isNew,
        freeze,
      });
  return {
    scorer: new BlindScorer((own ?? reference!).model, prompt.text),
    prompt,
    dispose: () => own?.dispose(),
  };
}
