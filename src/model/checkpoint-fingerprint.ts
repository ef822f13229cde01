import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { withWeights } from './checkpoint-weights.ts';
import { type AnyModelConfig, readAnyModelConfig, type VisionConfig } from './config.ts';
import { sizeOf } from './parameters.ts';

/** Values looked at of each tensor: enough that no two models share them, little enough to read at once. */
const SAMPLED_VALUES = 1024;

/**
 * What model a folder holds, as 64 hexadecimal digits: SHA-256 of its architecture and the first values of every
 * tensor. Quick for any size. The same for the same values in other files: shards, names or a wider type than the
 * values need change nothing; training, rounding or merging do.
 */
export async function baseFingerprint(folder: string): Promise<string> {
  const config = await readAnyModelConfig(join(folder, 'config.json'));
  const hash = createHash('sha256').update(JSON.stringify(architecture(config)));
  await withWeights(folder, config, async (weights) => {
    for (const [name, { shape }] of weights.tensors) {
      const values = new Float32Array(Math.min(SAMPLED_VALUES, sizeOf(shape)));
      await weights.readInto(name, values);
      hash.update(`\n${name} ${shape.join()}\n`).update(values);
    }
  });
  return hash.digest('hex');
}

/** Field by field, so that a key added to the configuration later leaves old fingerprints valid. */
function architecture({ vision, text: t }: AnyModelConfig): unknown {
  return [
    ...(vision === null ? [] : visionArchitecture(vision)),
    [t.hiddenSize, t.layers, t.heads, t.keyValueHeads, t.headSize, t.intermediateSize, t.vocabularySize],
    [t.rmsNormEpsilon, t.ropeTheta, t.mropeSection, t.tieWordEmbeddings],
  ];
}

/** Norms and MLP show in the names of the tensors, which are part of the fingerprint too. */
const visionArchitecture = (v: VisionConfig): unknown[] => [
  [v.depth, v.hiddenSize, v.heads, v.intermediateSize, v.outHiddenSize],
  [v.patchSize, v.temporalPatchSize, v.spatialMergeSize, v.windowSize, v.fullAttentionBlocks],
];
