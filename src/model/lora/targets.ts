import type { AnyModelConfig } from '../config.ts';
import { parameterShapes } from '../parameters.ts';
import type { LoraSettings } from './settings.ts';

/** Extents of the weight of an adapted linear layer. */
export interface LoraTarget {
  output: number;
  input: number;
}

const VISION_LAYER = /^visual\.blocks\.\d+\.(attn\.(qkv|proj)|mlp\.(gate_proj|up_proj|down_proj|fc1|fc2))$/;
const MERGER_LAYER = /^visual\.merger\.mlp\.[02]$/;

/**
 * The linear layers that the settings adapt, by name without `.weight`, in the order of the parameters. The vision
 * tower's MLP carries the same last names as the language model's: it is adapted only where it is asked for.
 */
export function loraTargets(
  config: AnyModelConfig,
  { targets, vision, merger }: Pick<LoraSettings, 'targets' | 'vision' | 'merger'>,
): Map<string, LoraTarget> {
  const language = new RegExp(`^model\\.layers\\.\\d+\\.(self_attn|mlp)\\.(${targets.join('|')})$`);
  const found = new Map<string, LoraTarget>();
  for (const [name, [output, input]] of parameterShapes(config)) {
    if (!name.endsWith('.weight')) continue;
    const layer = name.slice(0, -'.weight'.length);
    const wanted =
      language.test(layer) || (vision && VISION_LAYER.test(layer)) || (merger && MERGER_LAYER.test(layer));
    if (wanted) found.set(layer, { output: output!, input: input! });
  }
  return found;
}
