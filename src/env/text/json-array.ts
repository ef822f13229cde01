import { InputError } from '../../core/index.ts';

export interface ArrayElement {
  /** JSON of one element. */
  text: string;
  /** Of the file, from 1: where the element begins. */
  line: number;
}

const isSpace = (character: string | undefined): boolean => character !== undefined && /\s/.test(character);

/** Index after the value that begins at `from`: the next comma or bracket of the array itself, or the end. */
function endOfElement(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let i = from; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') {
      if (depth === 0) return i;
      depth--;
    } else if (character === ',' && depth === 0) return i;
  }
  return text.length;
}

/**
 * The elements of a JSON array with their lines, each still to be parsed, so that a bad one is named by its line.
 * InputError where the array itself is not whole.
 */
export function* arrayElements(path: string, text: string): Generator<ArrayElement> {
  let line = 1;
  let at = 0;
  const skipSpace = (): void => {
    for (; isSpace(text[at]); at++) if (text[at] === '\n') line++;
  };
  const broken = (what: string): InputError =>
    new InputError(`${path}:${line} is not a JSON array: ${what}`, {
      hint: 'the file must be one array of objects, or JSON Lines with the ending .jsonl',
    });
  if (text.startsWith('\uFEFF')) at++;
  skipSpace();
  if (text[at] !== '[') throw broken('it does not begin with [');
  at++;
  skipSpace();
  if (text[at] === ']') at++;
  else {
    for (let closed = false; !closed; ) {
      skipSpace();
      const end = endOfElement(text, at);
      const element = text.slice(at, end);
      if (element.trim() === '') throw broken('an element is missing');
      if (end === text.length) throw broken('its end is missing');
      yield { text: element, line };
      line += element.split('\n').length - 1;
      closed = text[end] === ']';
      if (!closed && text[end] !== ',') throw broken(`unexpected ${text[end]}`);
      at = end + 1;
    }
  }
  skipSpace();
  if (at < text.length) throw broken('there is more after its end');
}
