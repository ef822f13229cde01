import { describe, expect, it } from 'vitest';
import { printable, printableBlock } from '../../src/core/index.ts';

describe('printable', () => {
  it.each([
    ['a colour', 'a\u001b[31mb', 'a\\x1b[31mb'],
    ['a window title', '\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['the 8-bit form of an escape', '\u009b2J', '\\x9b2J'],
    ['line breaks', 'a\nhint: b\r\nc\u2028d\u2029e', 'a\\nhint: b\\r\\nc\\u2028d\\u2029e'],
    ['vertical tab, form feed, next line', '\v\f\u0085', '\\x0b\\x0c\\x85'],
    ['tab, backspace, delete, nul', '\t\b\u007f\0', '\\t\\x08\\x7f\\x00'],
    ['a name turned round', 'photo\u202egnp.exe', 'photo\\u202egnp.exe'],
    ['isolates and marks', '\u2066a\u2069\u200e\u200f\u061c', '\\u2066a\\u2069\\u200e\\u200f\\u061c'],
    ['what cannot be seen', 'a\u200bb\u00adc\ufeff\u{e0041}', 'a\\u200bb\\xadc\\ufeff\\u{e0041}'],
    ['half of a pair', 'a\ud83d', 'a\\ud83d'],
  ])('makes %s visible', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each([
    'plain text, 100 % of it: C:\\images "x" <b>',
    'Größe, naïve, 图像质量, صورة, תמונה, ภาพ',
    'emoji with joiners 👩‍👩‍👧 and Persian می‌خواهم',
    'e\u0301 combined',
    '',
  ])('leaves %j as it is', (text) => {
    expect(printable(text)).toBe(text);
  });

  it('lets no control character through, whatever the text', () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).join('');
    expect(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u.test(printable(all))).toBe(false);
  });
});

describe('printableBlock', () => {
  it('keeps the lines of a list and indents what would stand alone', () => {
    expect(printableBlock('2 problems:\n  a: wrong\nhint: do harm\u001b[2J\n\n  b')).toBe(
      '2 problems:\n  a: wrong\n  hint: do harm\\x1b[2J\n\n  b',
    );
  });
});
