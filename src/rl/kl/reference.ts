import type { ReferenceConfig } from '../config.ts';

/**
 * Whether the reference takes on the policy's weights after this step (counted from 1), as
 * reference <- mix policy + (1 - mix) reference. TR-DPO (arXiv 2404.09656), soft and hard update.
 */
export function synchronisesAfter(reference: ReferenceConfig, step: number): boolean {
  return reference.kind === 'synchronised' && step > 0 && step % reference.everySteps === 0;
}
