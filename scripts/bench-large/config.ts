/** A Qwen2.5-VL of 320 M parameters: the released models' proportions and vocabulary, fewer and narrower blocks. */
export const LARGE_CHANGES = {
  hidden_size: 768,
  num_hidden_layers: 16,
  num_attention_heads: 12,
  num_key_value_heads: 2,
  intermediate_size: 3072,
  vocab_size: 151_936,
  rope_scaling: { type: 'mrope', mrope_section: [8, 12, 12] },
  tie_word_embeddings: true,
} as const;

export const LARGE_VISION_CHANGES = {
  depth: 12,
  hidden_size: 640,
  num_heads: 10,
  intermediate_size: 1712,
  out_hidden_size: 768,
  fullatt_block_indexes: [3, 7, 11],
} as const;

/** Ten GRPO steps of low-rank adapters, as short as they can be and still be ten whole steps. */
export const LARGE_GRPO = {
  steps: 10,
  promptsPerStep: 2,
  groupSize: 4,
  microBatch: 2,
  maxNewTokens: 48,
  truncated: 'keep',
  lora: { rank: 16 },
  gradientCheckpointing: true,
  validateEvery: 10,
  validationImages: 4,
  checkpointEvery: 10,
} as const;

export const LARGE_PICTURES = { size: 112, train: 64, validation: 4 } as const;

/** The same run as `q-ponder plan` is told of it. */
export const LARGE_PLAN = {
  stage: 'grpo',
  picture: { width: LARGE_PICTURES.size, height: LARGE_PICTURES.size },
  pictures: LARGE_PICTURES.train + LARGE_PICTURES.validation,
  responseTokens: LARGE_GRPO.maxNewTokens,
  lora: LARGE_GRPO.lora,
  microBatch: LARGE_GRPO.microBatch,
  promptsPerStep: LARGE_GRPO.promptsPerStep,
  groupSize: LARGE_GRPO.groupSize,
  gradientCheckpointing: LARGE_GRPO.gradientCheckpointing,
} as const;
