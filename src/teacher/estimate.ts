import sharp from 'sharp';
import { InputError } from '../core/index.ts';
import { imagePath, renderPrompt } from '../data/index.ts';
import type { TokenPrices } from '../remote/index.ts';
import { guidanceText } from './guidance.ts';
import { type HttpTeacherOptions, languageOfPrompt } from './http.ts';
import type { TeachingRecord } from './teacher.ts';

/** Pictures measured for the average; the rest is taken to be like them. */
const MEASURED = 50;
/** Qwen2.5-VL: 28 x 28 pixels a token. */
const PIXELS_PER_TOKEN = 28 * 28;
/** Short of the usual four for English, so that the estimate is rather too high. */
const LETTERS_PER_TOKEN = 3;
const TOKENS_PER_HAN = 1;
/** Of an answer of about a hundred words. */
const USUAL_ANSWER = 220;

export interface DistillEstimate {
  questions: number;
  promptTokens: number;
  /** Of answers of the usual length, and if every answer were as long as allowed. */
  completionTokens: number;
  completionTokensAtMost: number;
  cost: number | null;
  costAtMost: number | null;
}

const textTokens = (text: string): number => {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return han * TOKENS_PER_HAN + (text.length - han) / LETTERS_PER_TOKEN;
};

async function meanPictureTokens(paths: readonly string[], maxPixels: number): Promise<number> {
  const step = Math.max(1, Math.floor(paths.length / MEASURED));
  const sample = paths.filter((_, i) => i % step === 0).slice(0, MEASURED);
  let sum = 0;
  for (const path of sample) {
    try {
      const { width, height } = await sharp(path).metadata();
      sum += Math.min(maxPixels, width * height) / PIXELS_PER_TOKEN;
    } catch (error) {
      throw new InputError(`${path} cannot be read as a picture`, {
        hint: 'check the data set with "q-ponder data validate"',
        cause: error,
      });
    }
  }
  return sample.length === 0 ? 0 : sum / sample.length;
}

/** What the questions will need, before any is asked. Tokens of pictures are those of Qwen2.5-VL. */
export async function estimateDistillation(
  questions: readonly { record: TeachingRecord; sample: number }[],
  options: Omit<HttpTeacherOptions, 'client' | 'seed'>,
  prices: TokenPrices | undefined,
): Promise<DistillEstimate> {
  const ways = options.prompts.flatMap((way) => Array.from({ length: way.samples }, () => way));
  const paths = questions.map(({ record }) => imagePath(options.folder, record));
  const picture = await meanPictureTokens([...new Set(paths)], options.maxPixels);
  let promptTokens = 0;
  for (const { record, sample } of questions) {
    const { prompt } = ways[sample % ways.length]!;
    const reference = guidanceText(record, options.guidance, languageOfPrompt(prompt));
    const { text } = renderPrompt(prompt, prompt.slots.includes('reference') ? { reference } : {});
    promptTokens += textTokens(text) + picture;
  }
  promptTokens = Math.ceil(promptTokens);
  const completionTokens = questions.length * Math.min(USUAL_ANSWER, options.maxTokens);
  const completionTokensAtMost = questions.length * options.maxTokens;
  const cost = (completion: number): number | null =>
    prices === undefined ? null : (promptTokens * prices.prompt + completion * prices.completion) / 1e6;
  return {
    questions: questions.length,
    promptTokens,
    completionTokens,
    completionTokensAtMost,
    cost: cost(completionTokens),
    costAtMost: cost(completionTokensAtMost),
  };
}
