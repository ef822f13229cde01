/** Token ids of conversations against the transformers library (scripts/reference/record-tokenizer-prompts.py). */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type ChatMessage,
  loadModelFormat,
  type ModelFormat,
  preprocess,
  promptSequence,
  specialTokens,
} from '../../src/model/index.ts';
import { namedPicture } from './parity-reference.ts';

interface RecordedPrompt {
  messages: ChatMessage[];
  /** [height, width] of each picture. */
  images: [number, number][];
  /** Whether a text spells a special token; transformers then takes the text for the token. */
  spelled: boolean;
  ids: number[];
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const cases: [string, string, string][] = [
  ['the miniature', path('../../models/qwen2.5-vl-mini'), path('./fixtures/prompts.json')],
];
const { QPONDER_PROMPT_FOLDER: folder, QPONDER_PROMPT_REFERENCE: reference } = process.env;
if (folder !== undefined && reference !== undefined) cases.push([folder, folder, reference]);

describe.each(cases)('%s', (_, modelFolder, file) => {
  let format: ModelFormat;
  let prompts: RecordedPrompt[];
  beforeAll(async () => {
    format = await loadModelFormat(modelFolder);
    prompts = JSON.parse(await readFile(file, 'utf8')) as RecordedPrompt[];
  });

  const sequenceOf = ({ messages, images }: RecordedPrompt) =>
    promptSequence(
      format,
      messages,
      images.map(([height, width]) => preprocess(namedPicture('prompt', width, height), format.processor)),
    );
  const specialIn = (ids: readonly number[]): number[] => {
    const special = new Set(specialTokens(format.tokenizer).values());
    return ids.filter((id) => special.has(id));
  };

  test('200 prompts are compared, a few of which spell special tokens', () => {
    expect(prompts).toHaveLength(200);
    expect(prompts.filter(({ spelled }) => spelled)).toHaveLength(14);
  });

  test('ids are those of transformers where no text spells a special token', () => {
    const differing = prompts
      .filter((prompt) => !prompt.spelled)
      .flatMap((prompt) => {
        const own = sequenceOf(prompt).tokenIds;
        const same = own.length === prompt.ids.length && own.every((id, i) => id === prompt.ids[i]);
        return same ? [] : [{ messages: prompt.messages, own, expected: prompt.ids }];
      });
    expect(differing).toEqual([]);
  });

  test('the tokenizer alone reads spelled special tokens as transformers does', () => {
    // Pictures apart, whose places promptSequence fills.
    const texts = prompts.filter(({ spelled, images }) => spelled && images.length === 0);
    expect(texts.length).toBeGreaterThan(0);
    expect(
      texts.map(({ messages }) => format.tokenizer.encode(format.chatTemplate.render(messages))),
    ).toEqual(texts.map(({ ids }) => ids));
  });

  test('text that spells special tokens gives none, and comes back as it was', () => {
    const emptied = ({ messages, ...rest }: RecordedPrompt): RecordedPrompt => ({
      ...rest,
      messages: messages.map(({ role, content }) => ({
        role,
        content:
          typeof content === 'string'
            ? 'x'
            : content.map((part) => (part.type === 'text' ? { ...part, text: 'x' } : part)),
      })),
    });
    const pad = format.tokenizer.decode([format.config.tokens.imagePad], { keepSpecial: true });
    for (const prompt of prompts.filter(({ spelled }) => spelled)) {
      const { tokenIds, images } = sequenceOf(prompt);
      // Not one more and not one fewer than the same conversation about something else.
      expect(specialIn(tokenIds)).toEqual(specialIn(sequenceOf(emptied(prompt)).tokenIds));
      // Each picture's places written as one again, as the template writes them.
      let expected = format.chatTemplate.render(prompt.messages).normalize('NFC');
      if (images.length === 0) {
        expect(format.tokenizer.decode(tokenIds, { keepSpecial: true })).toBe(expected);
        continue;
      }
      const { visionStart, imagePad } = format.config.tokens;
      const once = tokenIds.filter((id, i) => id !== imagePad || tokenIds[i - 1] === visionStart);
      expected = expected.replaceAll(pad + pad, pad);
      expect(format.tokenizer.decode(once, { keepSpecial: true })).toBe(expected);
    }
  });
});
