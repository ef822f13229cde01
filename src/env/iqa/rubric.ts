import { z } from 'zod';
import { ConfigError, type ParsedAnswer, parseAnswer, type RewardValue } from '../../core/index.ts';
import { distortionsNamed, type NamedDistortion } from '../../data/index.ts';
import { accuracyFormSchema, pointwiseAccuracy } from './accuracy.ts';
import { blindConsistency, distortionAgreement, levelConsistency } from './consistency.ts';
import { thurstoneRewards } from './rank.ts';

const weight = (value: number) => z.number().min(0).default(value);

/** R = sum of weight * term. Every constant is a reconstruction: the paper's are unpublished. */
export const iqaRubricConfigSchema = z.strictObject({
  accuracy: z
    .strictObject({ weight: weight(1), reward: accuracyFormSchema.prefault({ form: 'linear' }) })
    .prefault({}),
  consistency: z
    .strictObject({
      level: z
        .strictObject({
          weight: weight(0.3),
          falloff: z.number().positive().default(2).describe('levels of distance at which the credit is 0'),
        })
        .prefault({}),
      blind: z
        .strictObject({
          weight: weight(0),
          width: z.number().positive().default(4).describe('points of difference at which the credit is 0'),
        })
        .prefault({}),
      distortions: z
        .strictObject({
          weight: weight(0.2),
          severityShare: z.number().min(0).max(1).default(0.5),
          acceptRelatives: z.boolean().default(true),
        })
        .prefault({}),
    })
    .prefault({}),
  format: z.strictObject({ weight: weight(0.1) }).prefault({}),
});
export type IqaRubricConfig = z.infer<typeof iqaRubricConfigSchema>;

export const IQA_TERMS = [
  'accuracy',
  'levelConsistency',
  'blindConsistency',
  'distortionConsistency',
  'format',
] as const;
export type IqaTerm = (typeof IQA_TERMS)[number];

export interface IqaTarget {
  dataset: string;
  /** On [1, 5]. */
  mos: number;
  mosStd?: number;
  /** Distortions to agree with. Absent where nobody knows them: the term then does not apply to this image. */
  referenceDistortions?: readonly NamedDistortion[];
}

export interface ScoredCompletion {
  /** Terms that apply, weighted or not, so that each can be logged. */
  terms: Partial<Record<IqaTerm, RewardValue>>;
  /** Missing as soon as a term with a weight is missing. */
  total: RewardValue;
  answer: ParsedAnswer;
}

export interface IqaServices {
  /** The score expected from the reasoning alone, without the image. Needed by a weight on consistency.blind. */
  expectedScore?: (reasoning: string, target: IqaTarget) => number;
}

export interface IqaRubric {
  readonly config: IqaRubricConfig;
  readonly weights: Readonly<Record<IqaTerm, number>>;
  /** The largest total a completion can earn where all terms apply. */
  readonly maximum: number;
  /** Scores one completion. The rank form compares images: use scoreGroups. */
  scoreCompletion(text: string, target: IqaTarget): ScoredCompletion;
  /** Scores a batch, one group of completions per image. */
  scoreGroups(groups: readonly { target: IqaTarget; texts: readonly string[] }[]): ScoredCompletion[][];
}

/** 1 if the whole output keeps the contract, else 0. Reconstruction (all published peers use this rule). */
export const formatReward = (answer: ParsedAnswer): number => (answer.wellFormed ? 1 : 0);

/** Runs a term. One that throws or yields no finite number is missing with its reason, never 0. */
function attempt(term: IqaTerm, compute: () => number): RewardValue {
  try {
    const value = compute();
    if (Number.isFinite(value)) return { status: 'ok', value };
    return { status: 'missing', reason: `${term}: the value is ${value}` };
  } catch (error) {
    return {
      status: 'missing',
      reason: `${term}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function totalOf(terms: ScoredCompletion['terms'], weights: Readonly<Record<IqaTerm, number>>): RewardValue {
  let value = 0;
  const reasons: string[] = [];
  for (const term of IQA_TERMS) {
    const result = terms[term];
    if (result === undefined || weights[term] === 0) continue;
    if (result.status === 'ok') value += weights[term] * result.value;
    else reasons.push(result.reason);
  }
  return reasons.length === 0 ? { status: 'ok', value } : { status: 'missing', reason: reasons.join('; ') };
}

/**
 * Builds the reward of image quality assessment. An answer without a readable score in [1, 5] earns 0 for
 * accuracy and for the consistency of reasoning and score, because the rule is: no score, no credit; its
 * `answer.status` says so, and callers count it. A reasoning that is not there earns 0 for the terms that read it.
 */
export function createIqaRubric(
  settings: z.input<typeof iqaRubricConfigSchema> = {},
  services: IqaServices = {},
): IqaRubric {
  const config = iqaRubricConfigSchema.parse(settings);
  const { level, blind, distortions } = config.consistency;
  const weights: Record<IqaTerm, number> = {
    accuracy: config.accuracy.weight,
    levelConsistency: level.weight,
    blindConsistency: blind.weight,
    distortionConsistency: distortions.weight,
    format: config.format.weight,
  };
  const { expectedScore } = services;
  if (blind.weight > 0 && expectedScore === undefined) {
    throw new ConfigError('consistency.blind has a weight, but nothing can re-score a reasoning', {
      hint: 'pass expectedScore, or set consistency.blind.weight to 0',
    });
  }
  const form = config.accuracy.reward;

  function score(answer: ParsedAnswer, target: IqaTarget, accuracy: RewardValue): ScoredCompletion {
    const { reasoning } = answer;
    const value = answer.status === 'ok' ? answer.score : undefined;
    const terms: ScoredCompletion['terms'] = {
      accuracy,
      levelConsistency: attempt('levelConsistency', () =>
        value === undefined || reasoning === undefined
          ? 0
          : levelConsistency(reasoning, value, level.falloff),
      ),
      format: attempt('format', () => formatReward(answer)),
    };
    if (expectedScore !== undefined) {
      terms.blindConsistency = attempt('blindConsistency', () =>
        value === undefined || reasoning === undefined
          ? 0
          : blindConsistency(expectedScore(reasoning, target), value, blind.width),
      );
    }
    const reference = target.referenceDistortions;
    if (reference !== undefined) {
      terms.distortionConsistency = attempt('distortionConsistency', () =>
        reasoning === undefined
          ? 0
          : distortionAgreement(distortionsNamed(reasoning), reference, distortions),
      );
    }
    return { terms, total: totalOf(terms, weights), answer };
  }

  const readable = (answer: ParsedAnswer): number | null =>
    answer.status === 'ok' && answer.score !== undefined ? answer.score : null;

  function scoreGroups(
    groups: readonly { target: IqaTarget; texts: readonly string[] }[],
  ): ScoredCompletion[][] {
    const answers = groups.map(({ texts }) => texts.map(parseAnswer));
    const accuracies =
      form.form === 'rank'
        ? thurstoneRewards(
            groups.map(({ target }, i) => ({
              dataset: target.dataset,
              mos: target.mos,
              scores: (answers[i] ?? []).map(readable),
            })),
          )
        : groups.map(({ target }, i) =>
            (answers[i] ?? []).map((answer) =>
              attempt('accuracy', () => {
                const value = readable(answer);
                return value === null ? 0 : pointwiseAccuracy(value, target, form);
              }),
            ),
          );
    return groups.map(({ target }, i) =>
      (answers[i] ?? []).map((answer, k) => score(answer, target, accuracies[i]?.[k] as RewardValue)),
    );
  }

  return {
    config,
    weights,
    maximum: Object.values(weights).reduce((sum, value) => sum + value, 0),
    scoreGroups,
    scoreCompletion(text, target) {
      if (form.form === 'rank') {
        throw new ConfigError('the accuracy form rank compares the images of a batch', {
          hint: 'use scoreGroups, or another form',
        });
      }
      return scoreGroups([{ target, texts: [text] }])[0]?.[0] as ScoredCompletion;
    },
  };
}
