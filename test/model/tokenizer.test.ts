import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildTokenizer, MAXIMUM_VOCABULARY, SPECIAL_TOKENS } from '../../scripts/build-tokenizer.ts';
import { CheckpointError } from '../../src/core/index.ts';
import { BpeTokenizer, type ModelConfig, parseModelConfig } from '../../src/model/index.ts';
import { TINY_CONFIG } from './tiny.ts';

const CORPUS = `<think>The street scene is sharp, but strong noise covers it; so the quality is poor.</think><answer>2.13</answer>
<think>The street scene is blurred, and it's dark; so the quality is bad.</think><answer>1.47</answer>`;

function configFor(json: ReturnType<typeof buildTokenizer>): ModelConfig {
  const id = (token: string) => json.added_tokens.find(({ content }) => content === token)!.id;
  return parseModelConfig({
    ...TINY_CONFIG,
    vocab_size: id('<|video_pad|>') + 1,
    bos_token_id: id('<|endoftext|>'),
    pad_token_id: id('<|endoftext|>'),
    eos_token_id: id('<|im_end|>'),
    image_token_id: id('<|image_pad|>'),
    video_token_id: id('<|video_pad|>'),
    vision_start_token_id: id('<|vision_start|>'),
    vision_end_token_id: id('<|vision_end|>'),
  });
}

const json = buildTokenizer(CORPUS, 1);
const config = configFor(json);
const tokenizer = new BpeTokenizer(json, {}, config);
const pieces = (text: string) =>
  tokenizer.encode(text).map((id) => tokenizer.decode([id], { keepSpecial: true }));

describe('buildTokenizer', () => {
  test('every word (with the character before it) is one token, each digit its own', () => {
    expect(pieces('<think>The street scene is sharp; so the quality is poor.</think><answer>2.13')).toEqual([
      '<think',
      '>The',
      ' street',
      ' scene',
      ' is',
      ' sharp',
      ';',
      ' so',
      ' the',
      ' quality',
      ' is',
      ' poor',
      '.</',
      'think',
      '><',
      'answer',
      '>',
      '2',
      '.',
      '1',
      '3',
    ]);
  });

  test('words rarer than the minimum count stay in pieces', () => {
    const frequent = buildTokenizer(CORPUS, 2);
    const coarse = new BpeTokenizer(frequent, {}, configFor(frequent));
    expect(coarse.encode(' street')).toHaveLength(1);
    expect(coarse.encode(' blurred').length).toBeGreaterThan(1);
  });

  test('the same corpus gives the same file', () => {
    expect(JSON.stringify(buildTokenizer(CORPUS, 1))).toBe(JSON.stringify(json));
  });

  test('ids are bytes, merges, special tokens, without a gap', () => {
    const words = Object.values(json.model.vocab).sort((a, b) => a - b);
    const ids = [...words, ...json.added_tokens.map(({ id }) => id)];
    expect(ids).toEqual(ids.map((_, i) => i));
    expect(json.added_tokens.map(({ content }) => content)).toEqual([...SPECIAL_TOKENS]);
    expect(tokenizer.vocabularySize).toBe(ids.length);
  });

  test('a corpus of too many words is refused by naming some', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    const words = Array.from({ length: MAXIMUM_VOCABULARY }, (_, i) =>
      [i, i * 7, i * 11, i * 13].map((k) => letters[k % 26]! + letters[Math.floor(k / 26) % 26]!).join(''),
    );
    expect(() => buildTokenizer(words.join(' '), 1)).toThrow(/leave \d+ words in pieces, for example/);
  });
});

describe('BpeTokenizer', () => {
  test('any text comes back, in Unicode normal form C', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text), { keepSpecial: true })).toBe(text.normalize('NFC'));
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test.each([
    '',
    ' ',
    '  two  spaces  ',
    "it's IT'S",
    '図 façade e\u0301 😀\u200d😀',
    '\r\n\n a\tb',
    '\ufeffmark',
    '123 4.56',
  ])('round trip of %j', (text) => {
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text.normalize('NFC'));
  });

  test('special tokens are single ids, hidden by default', () => {
    const ids = tokenizer.encode('<|im_start|>user\nThe<|im_end|>');
    expect(ids[0]).toBe(tokenizer.tokenId('<|im_start|>'));
    expect(tokenizer.decode(ids)).toBe('user\nThe');
    expect(tokenizer.decode(ids, { keepSpecial: true })).toBe('<|im_start|>user\nThe<|im_end|>');
  });

  test('half a character decodes to the replacement character', () => {
    const [first] = tokenizer.encode('é');
    expect(tokenizer.decode([first!])).toBe('\ufffd');
  });

  test('both ends stop generation', () => {
    expect(tokenizer.endOfSequenceIds).toEqual([
      tokenizer.tokenId('<|im_end|>'),
      tokenizer.tokenId('<|endoftext|>'),
    ]);
    expect(tokenizer.padId).toBe(tokenizer.tokenId('<|endoftext|>'));
    expect(tokenizer.tokenId('absent')).toBeUndefined();
  });

  test('a vocabulary larger than the model is refused', () => {
    const small = { ...config, text: { ...config.text, vocabularySize: 300 } };
    expect(() => new BpeTokenizer(json, {}, small)).toThrow(/has \d+ tokens, the model only 300/);
  });

  test('a file that is no BPE tokenizer is refused', () => {
    expect(() => new BpeTokenizer({ model: { type: 'Unigram' } }, {}, config)).toThrow(CheckpointError);
  });
});

test('ids equal those of the Rust tokenizers library', async () => {
  const folder = new URL('./fixtures/tokenizer/', import.meta.url);
  const stored = JSON.parse(await readFile(new URL('tokenizer.json', folder), 'utf8')) as typeof json;
  const rows = JSON.parse(await readFile(new URL('reference.json', folder), 'utf8')) as {
    text: string;
    ids: number[];
  }[];
  const loaded = new BpeTokenizer(stored, {}, configFor(stored));
  expect(rows.map(({ text }) => loaded.encode(text))).toEqual(rows.map(({ ids }) => ids));
});
