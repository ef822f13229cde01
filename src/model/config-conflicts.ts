import type { AnyModelConfig, ModelConfig } from './config.ts';

/** What two values of a configuration contradict each other in; each alone would do. */
export function configConflicts(config: AnyModelConfig): string[] {
  const { text, tokens } = config;
  const problems: string[] = [];
  const require = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  require(Number.isInteger(text.headSize) &&
    text.headSize % 2 === 0, `the text head size ${text.headSize} must be an even whole number`);
  require(text.heads % text.keyValueHeads ===
    0, `num_attention_heads ${text.heads} is not a multiple of num_key_value_heads ${text.keyValueHeads}`);
  const sections = text.mropeSection.reduce((sum, n) => sum + n, 0);
  require(sections * 2 ===
    text.headSize, `mrope_section sums to ${sections}, it must be half the head size ${text.headSize}`);
  if (config.vision !== null) problems.push(...visionConflicts(config));
  const { bos: _, pad: __, ...used } = tokens;
  const ids: number[] = Object.values(used).flat();
  require(ids.every(
    (id) => id < text.vocabularySize,
  ), `a special token id is outside the vocabulary of ${text.vocabularySize}`);
  return problems;
}

function visionConflicts({ vision, text }: ModelConfig): string[] {
  const problems: string[] = [];
  const require = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  require(vision.hiddenSize % vision.heads ===
    0, `vision hidden_size ${vision.hiddenSize} is not a multiple of num_heads ${vision.heads}`);
  require((vision.hiddenSize / vision.heads) % 4 ===
    0, 'the vision head size must be a multiple of 4 (two axes of rotated pairs)');
  require(vision.outHiddenSize ===
    text.hiddenSize, `out_hidden_size ${vision.outHiddenSize} differs from the text hidden_size ${text.hiddenSize}`);
  require(!Number.isFinite(vision.windowSize) ||
    vision.windowSize % (vision.patchSize * vision.spatialMergeSize) ===
      0, `window_size ${vision.windowSize} is not a multiple of patch_size x spatial_merge_size`);
  return problems;
}
