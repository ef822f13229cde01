import { z } from 'zod';

/** Linear layers of a block of the language model, as transformers names them. */
export const LANGUAGE_TARGETS = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;

/**
 * Low-rank adapters (Hu et al. 2021, arXiv 2106.09685): W x becomes W x + s B (A x) with A [rank, in] and
 * B [out, rank]. Only A and B are trained.
 */
export const loraSettingsSchema = z.strictObject({
  rank: z.int().min(1).max(1024).default(16),
  alpha: z
    .number()
    .positive()
    .default(32)
    .describe('the product of the two matrices is scaled by alpha / rank'),
  dropout: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .describe(
      'share of the inputs of A set to 0 while training; 0 in GRPO, where sampler and trainer must agree',
    ),
  rsLora: z
    .boolean()
    .default(false)
    .describe('scale by alpha / sqrt(rank) instead (rank-stabilised, arXiv 2312.03732)'),
  targets: z
    .array(z.enum(LANGUAGE_TARGETS))
    .min(1)
    .default([...LANGUAGE_TARGETS])
    .describe('adapted layers of the language model'),
  vision: z
    .boolean()
    .default(false)
    .describe('adapt the vision tower too: qkv, proj and the three layers of its MLP'),
  merger: z.boolean().default(false).describe('adapt the merger (projector) too'),
});
export type LoraSettings = z.infer<typeof loraSettingsSchema>;

/** s of W x + s B (A x). */
export function loraScaling({
  rank,
  alpha,
  rsLora,
}: Pick<LoraSettings, 'rank' | 'alpha' | 'rsLora'>): number {
  return alpha / (rsLora ? Math.sqrt(rank) : rank);
}
