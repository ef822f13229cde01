export interface CodeCall {
  thought: string;
  name: string;
  /** By keyword, or in the order of the parameters. */
  args: Readonly<Record<string, unknown>> | readonly unknown[];
}

const BLOCK = /```(?:python|py)?[ \t]*\n(.*?)```/gs;
const CALL = /^([a-z_]\w*)\((.*)\)$/is;

/** A string in either kind of quotes with the commonest escapes, or a whole number; with or without a keyword; up to a comma or the end. */
const ARGUMENT =
  /\s*(?:([a-z_]\w*)\s*=\s*)?("(?:[^"\\\n]|\\[\\"'n])*"|'(?:[^'\\\n]|\\[\\"'n])*'|[+-]?\d{1,15})\s*(,|$)/iy;

function literal(text: string): string | number {
  if (!/^["']/.test(text)) return Number(text);
  return text
    .slice(1, -1)
    .replace(/\\(.)/gs, (_, character: string) => (character === 'n' ? '\n' : character));
}

/** The arguments of a call; undefined where they are anything but literals, or positional after or among keywords. */
function readArguments(inner: string): CodeCall['args'] | undefined {
  const text = inner.trim();
  const positional: unknown[] = [];
  const named: Record<string, unknown> = {};
  ARGUMENT.lastIndex = 0;
  while (ARGUMENT.lastIndex < text.length) {
    const match = ARGUMENT.exec(text);
    if (match === null) return undefined;
    const [, keyword, value] = match;
    if (keyword === undefined) positional.push(literal(value as string));
    else if (Object.hasOwn(named, keyword)) return undefined;
    else named[keyword] = literal(value as string);
  }
  if (Object.keys(named).length === 0) return positional;
  return positional.length === 0 ? named : undefined;
}

/**
 * A call as code: one block (```python ... ```) that holds one call with literal arguments. It is read, never run;
 * anything more than that one call is malformed. The text before the block is the thought.
 */
export function readCodeCall(reply: string): CodeCall | 'none' | 'several' | 'malformed' {
  const blocks = [...reply.matchAll(BLOCK)];
  if (blocks.length > 1) return 'several';
  const [block] = blocks;
  if (block === undefined) return 'none';
  const code = (block[1] as string).trim();
  if (code === '') return 'none';
  const [, name, inner] = CALL.exec(code) ?? [];
  if (name === undefined || inner === undefined) return 'malformed';
  const args = readArguments(inner);
  return args === undefined ? 'malformed' : { thought: reply.slice(0, block.index).trim(), name, args };
}
