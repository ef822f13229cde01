import { printable } from '../core/index.ts';

/**
 * Writes results to standard output. A terminal gets control characters as their escapes, as `ls` does, because file
 * names and answers stand in results; a pipe or a file gets the text as it is.
 */
export function printLine(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  const shown = stream.isTTY ? text.split('\n').map(printable).join('\n') : text;
  stream.write(`${shown}\n`);
}
