import { Generator } from './generate.ts';
import type { SynthesisConfig } from './synth-config.ts';
import { PhotographDistorter } from './synth-from.ts';
import type { ImageSource } from './synth-tasks.ts';

/** What a configuration asks for: distorted photographs, or generated scenes. */
export const openSource = (config: SynthesisConfig): Promise<ImageSource> =>
  config.from === undefined ? Generator.open(config) : PhotographDistorter.open(config, config.from);
