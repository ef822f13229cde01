import type { Rng } from '../../core/index.ts';
import type { Parameters } from '../parameters.ts';

/**
 * The same parameters with the adapter's dropout switched on, for recording one training step. The draws depend on
 * `rng` and a layer's name, not on the order of calls: a layer recorded twice (gradient checkpointing) drops the
 * same inputs.
 */
export function droppingOut(parameters: Parameters, rng: Rng): Parameters {
  const { adapter } = parameters;
  if (adapter === undefined || adapter.dropout === 0) return parameters;
  return Object.assign(new Map(parameters), { adapter: { ...adapter, draws: rng } });
}

/** The parameters without their adapter: the model as it was before. */
export const withoutAdapter = (parameters: Parameters): Parameters => new Map(parameters);
