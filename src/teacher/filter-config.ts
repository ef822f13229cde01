import { z } from 'zod';

/**
 * Which teacher answers are good enough to learn from. The published abstract says only that high-quality data
 * were distilled; the rules are a reconstruction, each with its own switch.
 */
export const FILTER_REASONS = [
  'format',
  'score-distance',
  'level-not-stated',
  'level-disagrees',
  'leaked-score',
  'leaked-instruction',
  'repetition',
  'truncated',
  'too-short',
  'too-long',
  'language',
  'refusal',
  'distortion-not-present',
  'distortion-missed',
  'severity-off',
  'near-duplicate',
] as const;
export type FilterReason = (typeof FILTER_REASONS)[number];

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

const auto = z.literal('auto');

export const filterConfigSchema = z.strictObject({
  maxScoreDistance: z
    .number()
    .positive()
    .nullable()
    .default(1)
    .describe('largest |score - MOS|, points; null switches the rule off'),
  maxLevelDistance: z
    .int()
    .min(0)
    .max(4)
    .nullable()
    .default(1)
    .describe('largest distance between the level stated and the level of the score: 0 exact, 1 neighbours'),
  leak: z
    .boolean()
    .default(true)
    .describe('refuse reasoning that shows that a score or an instruction was given'),
  maxRepeatedShare: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .default(0.1)
    .describe('largest share of four-word runs of the reasoning that occurred before in it'),
  truncation: z
    .union([auto, z.boolean()])
    .default('auto')
    .describe('refuse what was cut; auto: from models, not from simulated teachers'),
  minWords: z
    .union([auto, z.int().min(0)])
    .nullable()
    .default('auto')
    .describe('fewest words of the reasoning, two Chinese characters count as one; auto: 20 from models'),
  maxWords: z
    .union([auto, z.int().min(1)])
    .nullable()
    .default('auto')
    .describe('most words of the reasoning; auto: 300 from models'),
  language: z
    .union([auto, z.enum(LANGUAGES)])
    .nullable()
    .default('auto')
    .describe('language of the reasoning; auto: that of the prompt'),
  refusals: z.boolean().default(true).describe('refuse answers that decline to judge'),
  maxSimilarity: z
    .union([auto, z.number().gt(0).max(1)])
    .nullable()
    .default('auto')
    .describe(
      'share of four-word runs from which two accepted texts are near-duplicates; auto: 0.8 of models',
    ),
  distortions: z.boolean().default(true).describe('compare with the distortions applied, where known'),
  vocabulary: z
    .enum(['auto', 'lexicon', 'families'])
    .default('auto')
    .describe('lexicon: our own names of distortions; families: anybody’s words; auto: families for models'),
  maxSeverityDistance: z.int().min(0).max(4).default(2).describe('largest error of a named severity'),
  mustNameFrom: z
    .int()
    .min(1)
    .max(6)
    .default(2)
    .describe('severity from which the strongest distortion must be named; 6 means never'),
});
export type FilterConfig = z.infer<typeof filterConfigSchema>;

/** The configuration with every 'auto' decided. */
export type ResolvedFilters = Omit<
  FilterConfig,
  'truncation' | 'minWords' | 'maxWords' | 'language' | 'maxSimilarity' | 'vocabulary'
> & {
  truncation: boolean;
  minWords: number | null;
  maxWords: number | null;
  language: Language | null;
  maxSimilarity: number | null;
  vocabulary: 'lexicon' | 'families';
};

/**
 * Decides what 'auto' means. A simulated teacher writes from a small vocabulary: its texts are short, alike and
 * whole by construction, so the rules about texts would only measure that vocabulary.
 */
export function resolveFilters(
  config: FilterConfig,
  { freely, language }: { freely: boolean; language: Language | null },
): ResolvedFilters {
  const decide = <T>(value: T | 'auto', ofModels: T, ofSimulated: T): T =>
    value === 'auto' ? (freely ? ofModels : ofSimulated) : (value as T);
  return {
    ...config,
    truncation: decide(config.truncation, true, false),
    minWords: decide<number | null>(config.minWords, 20, null),
    maxWords: decide<number | null>(config.maxWords, 300, null),
    language: decide<Language | null>(config.language, language, null),
    maxSimilarity: decide<number | null>(config.maxSimilarity, 0.8, null),
    vocabulary: decide<'lexicon' | 'families'>(config.vocabulary, 'families', 'lexicon'),
  };
}
