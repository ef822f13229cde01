import { InputError, parseAnswer, type RewardValue, TrainingError } from '../../core/index.ts';
import {
  appendTokens,
  encodeText,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../../model/index.ts';
import { digitDistributions } from '../../scoring/index.ts';

/** Positions that are kept for the score behind a reasoning, `3.42</answer>`. */
const ROOM = 16;

/**
 * Scores reasonings without their pictures: the model is asked by text alone, the reasoning is put into its mouth, and
 * the score that it then expects is read off its probabilities, as `withExpectedScores` does with a picture.
 */
export class BlindScorer {
  readonly #model: VisionLanguageModel;
  readonly #question: Sequence;
  #scores: ReadonlyMap<string, RewardValue> = new Map();

  /**
   * @param model one that does not learn: a policy could agree with itself on a language that says the score
   * @param text the question
   */
  constructor(model: VisionLanguageModel, text: string) {
    this.#model = model;
    this.#question = promptSequence(model, [{ role: 'user', content: [{ type: 'text', text }] }], []);
  }

  /** Scores the reasonings of these completions, each once; those of earlier calls are forgotten. */
  async prepare(completions: readonly string[]): Promise<void> {
    const scores = new Map<string, RewardValue>();
    const stems = new Map<string, Sequence>();
    for (const completion of completions) {
      const { reasoning, status } = parseAnswer(completion);
      // Without reasoning or score the rubric's rule decides, and nothing is asked.
      if (reasoning === undefined || status !== 'ok' || scores.has(reasoning) || stems.has(reasoning))
        continue;
      const stem = this.#stem(reasoning);
      if ('tokenIds' in stem) stems.set(reasoning, stem);
      else scores.set(reasoning, stem);
    }
    const distributions = await digitDistributions(this.#model, [...stems.values()]);
    [...stems.keys()].forEach((reasoning, i) => {
      const { mean } = distributions[i]!;
      scores.set(
        reasoning,
        Number.isFinite(mean)
          ? { status: 'ok', value: Math.min(5, Math.max(1, mean)) }
          : { status: 'missing', reason: `the model gives the score ${mean} without the picture` },
      );
    });
    this.#scores = scores;
  }

  /** The score in [1, 5] of a reasoning that was prepared; TrainingError with the reason where it has none. */
  expectedScore(reasoning: string): number {
    const score = this.#scores.get(reasoning);
    if (score?.status === 'ok') return score.value;
    throw new TrainingError(score?.reason ?? 'the reasoning was not scored without the picture');
  }

  /** The question and the beginning of an answer, up to where the score stands; or why there is none. */
  #stem(reasoning: string): Sequence | Extract<RewardValue, { status: 'missing' }> {
    const { config, tokenizer } = this.#model;
    try {
      // One text: the tokens at the border between both tags are those that an answer has.
      const beginning = encodeText(tokenizer, `<think>${reasoning}</think><answer>`);
      const stem = appendTokens(this.#question, beginning, 'action');
      const most = config.text.maxPositions - ROOM;
      if (stem.tokenIds.length <= most) return stem;
      return {
        status: 'missing',
        reason: `without the picture, question and reasoning have ${stem.tokenIds.length} tokens, at most ${most} fit`,
      };
    } catch (error) {
      if (error instanceof InputError) return { status: 'missing', reason: error.message };
      throw error;
    }
  }
}
