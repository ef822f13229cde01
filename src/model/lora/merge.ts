import type { TensorData } from '../../formats/index.ts';

/**
 * W + s B A, row by row in double precision and rounded once: what the adapted layer computes, as one matrix.
 *
 * @param weight W [out, in] @param down A [rank, in] @param up B [out, rank]
 */
export function mergedWeight(
  weight: TensorData,
  down: Float32Array,
  up: Float32Array,
  scaling: number,
): TensorData {
  const [output, input] = weight.shape as [number, number];
  const rank = down.length / input;
  const data = new Float32Array(weight.data.length);
  const row = new Float64Array(input);
  for (let o = 0; o < output; o++) {
    row.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = scaling * up[o * rank + r]!;
      const from = r * input;
      for (let i = 0; i < input; i++) row[i]! += factor * down[from + i]!;
    }
    for (let i = 0; i < input; i++) data[o * input + i] = weight.data[o * input + i]! + row[i]!;
  }
  return { shape: weight.shape, data };
}
