import type { Rng } from '../../core/index.ts';
import type { AnyModelConfig } from '../config.ts';
import { type Adapter, type LoraPair, loraPair } from './adapter.ts';
import type { LoraSettings } from './settings.ts';
import { loraTargets } from './targets.ts';

/**
 * A new adapter that changes nothing yet: B is 0, A uniform in +-1/sqrt(in), as in Hu et al.'s own code and in PEFT
 * (Kaiming with a = sqrt(5)).
 */
export function createAdapter(config: AnyModelConfig, settings: LoraSettings, rng: Rng): Adapter {
  const { rank, alpha, rsLora, dropout } = settings;
  const pairs = new Map<string, LoraPair>();
  for (const [layer, { output, input }] of loraTargets(config, settings)) {
    const source = rng.fork('lora', layer);
    const bound = 1 / Math.sqrt(input);
    const down = Float32Array.from({ length: rank * input }, () => source.uniform(-bound, bound));
    pairs.set(layer, loraPair(rank, output, input, down, new Float32Array(output * rank)));
  }
  return { rank, alpha, rsLora, dropout, pairs };
}
