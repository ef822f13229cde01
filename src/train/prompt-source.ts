import type { RgbImage, Rng } from '../core/index.ts';
import type { IqaTarget } from '../env/index.ts';
import {
  type ChatMessage,
  type ProcessedImage,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import { type DifficultySampler, type R3Config, r3StartAt } from '../rl/index.ts';
import { DataOrder } from './data-order.ts';
import type { PictureFeatures } from './picture-features.ts';
import { type Examples, trainingPicture, trainingPixels } from './pictures.ts';
import { type ResponseDemonstration, startFrom } from './r3-starts.ts';

/** Where a prompt of a run stands: all of it is a pure function of these and the seed. */
export interface PromptPlace {
  step: number;
  /** Of the sampling within the step, from 0. */
  round: number;
  /** In the round. */
  index: number;
  /** Index of the image in the training split. */
  record: number;
}

/** One question of a step, and what its answers are rewarded for. */
export interface RolloutPrompt {
  place: PromptPlace;
  /** The question, with what a curriculum gives of the answer. */
  sequence: Sequence;
  /** The question as a conversation, without what is given. */
  messages: readonly ChatMessage[];
  picture: ProcessedImage;
  /** The pixels that `picture` was made of, for those who process them themselves. */
  pixels: () => RgbImage;
  target: IqaTarget;
  /** What is given of a demonstration; null: nothing. */
  given: { demonstration: ResponseDemonstration; start: number } | null;
}

export interface PromptSourceOptions {
  model: VisionLanguageModel;
  /** The question as text. */
  text: string;
  train: Examples;
  targets: readonly IqaTarget[];
  flip: boolean;
  /** Pictures as a frozen tower sees them; null: they are prepared anew. */
  cache: PictureFeatures | null;
  /** Draws by recent success; null: epochs of all pictures in random order. */
  difficulty: DifficultySampler | null;
  curriculum: R3Config;
  /** Demonstrations by record, for a curriculum. */
  demonstrations: ReadonlyMap<number, ResponseDemonstration>;
  totalSteps: number;
  rng: Rng;
}

/** Says which pictures a step asks about, and makes the questions. */
export class PromptSource {
  readonly #options: PromptSourceOptions;
  readonly #order: DataOrder;

  constructor(options: PromptSourceOptions) {
    this.#options = options;
    this.#order = new DataOrder(options.rng.fork('order'), options.train.records.length);
  }

  /**
   * Pictures of a round. Rounds after the first, and draws by difficulty, take none a second time in a step: there
   * may be fewer than asked for.
   *
   * @param used of this step so far
   */
  records(
    { step, round }: Pick<PromptPlace, 'step' | 'round'>,
    count: number,
    used: ReadonlySet<number>,
  ): number[] {
    const { difficulty, train, rng } = this.#options;
    const total = train.records.length;
    if (difficulty !== null) {
      const wanted = Math.min(total, count + used.size);
      const drawn = difficulty.draw(wanted, rng.fork('difficulty', step, round)).map(Number);
      return drawn.filter((record) => !used.has(record)).slice(0, count);
    }
    if (round === 0) return this.#order.batch(step, count);
    const unused = Array.from({ length: total }, (_, record) => record).filter((record) => !used.has(record));
    return rng.fork('resampling', step, round).shuffle(unused).slice(0, count);
  }

  prompt(place: PromptPlace): RolloutPrompt {
    const { model, text, train, targets, flip, cache, curriculum, demonstrations, totalSteps, rng } =
      this.#options;
    const { step, round, index, record } = place;
    const image = train.images[record]!;
    const draw = () => rng.fork('picture', step, round, index);
    const picture =
      cache?.picture(record, image, flip, draw()) ?? trainingPicture(image, flip, model.processor, draw());
    const content = [{ type: 'image' as const }, { type: 'text' as const, text }];
    const messages: ChatMessage[] = [{ role: 'user', content }];
    const question = promptSequence(model, messages, [picture]);
    const demonstration = demonstrations.get(record);
    const start =
      demonstration === undefined
        ? 0
        : r3StartAt(curriculum, demonstration.steps, { step, totalSteps, id: `${round} ${index}`, rng });
    return {
      place,
      sequence: start === 0 ? question : startFrom(question, demonstration!, start),
      messages,
      picture,
      pixels: () => trainingPixels(image, flip, model.processor, draw()),
      target: targets[record]!,
      given: start === 0 ? null : { demonstration: demonstration!, start },
    };
  }
}
