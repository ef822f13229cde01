import { ConfigError, RemoteError } from '../core/index.ts';
import { imagePath, type Prompt, renderPrompt } from '../data/index.ts';
import type { ChatClient } from '../remote/index.ts';
import type { Language } from './filter-config.ts';
import { type Guidance, guidanceText } from './guidance.ts';
import { boundedPictureUrl } from './picture-url.ts';
import type { Asked, Teacher, TeacherAnswer, TeachingRecord } from './teacher.ts';

/** One way of asking about each image. */
export interface TeacherPrompt {
  /** Takes no slots, or `reference` for the guidance. */
  prompt: Prompt;
  temperature: number;
  topP?: number | undefined;
  /** Answers to draw from each image. */
  samples: number;
}

export interface HttpTeacherOptions {
  client: ChatClient;
  /** The data set folder, for relative image paths. */
  folder: string;
  prompts: readonly TeacherPrompt[];
  guidance: Guidance;
  /** Most tokens of an answer. */
  maxTokens: number;
  /** Larger pictures are scaled down to this many pixels before they are sent. */
  maxPixels: number;
  /** Answer k is asked for with the seed `seed + k`, if the server heeds seeds. */
  seed: number;
}

/** Encoded pictures kept for the next question about the same image, where there are several. */
const KEPT_PICTURES = 64;

/** The language that a prompt asks for, by its id: prompts in Chinese end in "-zh". */
export const languageOfPrompt = ({ id }: Pick<Prompt, 'id'>): Language => (id.endsWith('-zh') ? 'zh' : 'en');

function checkPrompts(prompts: readonly TeacherPrompt[]): void {
  if (prompts.length === 0) throw new ConfigError('the teacher has no prompt', { hint: 'give one or more' });
  for (const { prompt } of prompts) {
    const other = prompt.slots.filter((slot) => slot !== 'reference');
    if (other.length === 0) continue;
    throw new ConfigError(`the prompt ${prompt.id}.v${prompt.version} wants the slots ${other.join(', ')}`, {
      hint: 'a prompt for a teacher takes no slot but reference',
    });
  }
}

/**
 * A vision-language model behind an OpenAI-compatible address. Each sample is a question of its own, the picture
 * first and then the prompt, so that each is paid for, kept and resumed by itself. A refusal and an empty reply are
 * answers without text; every other failure is the client's RemoteError.
 */
export function createHttpTeacher(options: HttpTeacherOptions): Teacher {
  const { client, folder, prompts, guidance, maxTokens, maxPixels, seed } = options;
  checkPrompts(prompts);
  const ways = prompts.flatMap((way) => Array.from({ length: way.samples }, () => way));
  const wayOf = (sample: number): TeacherPrompt => ways[sample % ways.length]!;
  const pictures = new Map<string, Promise<string>>();

  function pictureOf(record: TeachingRecord): Promise<string> {
    const path = imagePath(folder, record);
    const kept = pictures.get(path);
    if (kept !== undefined) return kept;
    const made = boundedPictureUrl(path, maxPixels);
    if (ways.length === 1) return made;
    pictures.set(path, made);
    if (pictures.size > KEPT_PICTURES) pictures.delete(pictures.keys().next().value as string);
    return made;
  }

  async function answer(record: TeachingRecord, sample: number): Promise<TeacherAnswer> {
    const { prompt, temperature, topP } = wayOf(sample);
    const reference = guidanceText(record, guidance, languageOfPrompt(prompt));
    const { text } = renderPrompt(prompt, prompt.slots.includes('reference') ? { reference } : {});
    const url = await pictureOf(record);
    try {
      const [reply] = await client.ask({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', url },
              { type: 'text', text },
            ],
          },
        ],
        temperature,
        topP,
        maxTokens,
        seed: seed + sample,
      });
      const { usage, model, finishReason } = reply!;
      return {
        text: reply!.text,
        finishReason,
        ...(usage === undefined
          ? {}
          : {
              tokens: {
                prompt: usage.prompt,
                cachedPrompt: usage.cachedPrompt,
                completion: usage.completion,
              },
            }),
        ...(model === undefined ? {} : { model }),
      };
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      if (error.reason !== 'refused' && error.reason !== 'empty') throw error;
      return { text: '', withoutText: error.reason };
    }
  }

  return {
    name: client.model,
    version: 'http-1',
    seed,
    freely: true,
    settings: {
      address: client.address,
      prompts: prompts.map(({ prompt: { id, version, hash }, temperature, topP, samples }) => ({
        id,
        version,
        hash,
        temperature,
        ...(topP === undefined ? {} : { topP }),
        samples,
      })),
      guidance,
      maxTokens,
      maxPixels,
    },
    answersFor: () => ways.length,
    asked: (sample): Asked => {
      const { prompt, temperature, topP } = wayOf(sample);
      const { id, version, hash } = prompt;
      return {
        prompt: { id, version, hash },
        temperature,
        ...(topP === undefined ? {} : { topP }),
        language: languageOfPrompt(prompt),
      };
    },
    answer: ({ record, sample }) => answer(record, sample),
  };
}
