/**
 * Text for a terminal. File names, ids and what servers say come from strangers: an escape sequence in them can move
 * the cursor, a newline can forge a line, a direction mark can turn a name round. Here such characters become their
 * escapes. Joiners, which names in several scripts need, stay.
 */

const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}

/** One line: control characters, line breaks and direction marks as their escapes ("\x1b", "\n", "\u202e"). */
export const printable = (text: string): string => text.replaceAll(UNPRINTABLE, escapeOf);

/**
 * A message of several lines. Its line breaks stay, because lists of problems have them; every further line is
 * indented, so that none of them can be taken for a line of its own.
 */
export const printableBlock = (text: string): string =>
  text
    .split('\n')
    .map(printable)
    .map((line, i) => (i === 0 || line === '' || line.startsWith('  ') ? line : `  ${line}`))
    .join('\n');
