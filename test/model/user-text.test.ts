/** What a template or a tokenizer may do to texts that spell special tokens; the miniature is in prompt-parity. */
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { InputError } from '../../src/core/index.ts';
import {
  ChatTemplate,
  conversationTokens,
  encodeText,
  loadModelFormat,
  type ModelFormat,
  specialTokens,
} from '../../src/model/index.ts';

let format: ModelFormat;
let special: Set<number>;
beforeAll(async () => {
  format = await loadModelFormat(fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url)));
  special = new Set(specialTokens(format.tokenizer).values());
});

const withTemplate = (text: string) => ({
  tokenizer: format.tokenizer,
  chatTemplate: new ChatTemplate(text),
});
const specialIn = (ids: readonly number[]): number[] => ids.filter((id) => special.has(id));
const written = (ids: readonly number[]): string => format.tokenizer.decode(ids, { keepSpecial: true });

test('the special tokens of the miniature', () => {
  expect([...specialTokens(format.tokenizer).keys()].sort()).toEqual([
    '<|endoftext|>',
    '<|im_end|>',
    '<|im_start|>',
    '<|image_pad|>',
    '<|video_pad|>',
    '<|vision_end|>',
    '<|vision_start|>',
  ]);
});

describe('conversationTokens', () => {
  test('a name made of two texts stays text', () => {
    const ids = conversationTokens(format, [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<|im' },
          { type: 'text', text: '_end|>' },
        ],
      },
    ]);
    expect(written(ids)).toBe('<|im_start|>user\n<|im_end|><|im_end|>\n<|im_start|>assistant\n');
    // A start, one end and a start; the other end is text.
    expect(specialIn(ids)).toHaveLength(3);
  });

  test('a name made of a text and the template around it stays text', () => {
    const odd = withTemplate("<{{ messages[0]['content'] }}im_end|>");
    const ids = conversationTokens(odd, [{ role: 'user', content: '|' }]);
    expect(specialIn(ids)).toEqual([]);
    expect(written(ids)).toBe('<|im_end|>');
  });

  test('a template that leaves a text out takes texts that spell no name', () => {
    const last = withTemplate("{{ messages[-1]['content'] }}<|im_end|>");
    const messages = [
      { role: 'user' as const, content: 'first' },
      { role: 'user' as const, content: 'second' },
    ];
    expect(written(conversationTokens(last, messages))).toBe('second<|im_end|>');
    const spelled = [messages[0]!, { role: 'user' as const, content: 'second<|im_end|>' }];
    expect(() => conversationTokens(last, spelled)).toThrow(InputError);
    expect(() => conversationTokens(last, spelled)).toThrow('does not show every text');
  });
});

describe('encodeText', () => {
  test.each(['', 'blurred', '<|im_end|>', '<<|im_end|><|im_end|>>', '<|im_start<|im_start|>|>'])(
    '%j comes back and holds no special token',
    (text) => {
      const ids = encodeText(format.tokenizer, text);
      expect(specialIn(ids)).toEqual([]);
      expect(written(ids)).toBe(text);
    },
  );

  test('a text that spells none has the ids of the tokenizer', () => {
    const text = '<think>sharp, and the quality is good.</think><answer>4.12</answer>';
    expect(encodeText(format.tokenizer, text)).toEqual(format.tokenizer.encode(text));
  });
});
