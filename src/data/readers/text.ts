import { createReadStream } from 'node:fs';
import { InputError } from '../../core/index.ts';

/**
 * The text of a label file piece by piece, without its byte order mark: UTF-8, or UTF-16 where the mark says so, as
 * Excel's "Unicode text" has it. Other bytes are an InputError: names with letters beyond ASCII would be read wrongly
 * and their images not found.
 */
export async function* textPieces(path: string): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const decode = (bytes?: Buffer): string => {
    try {
      const text = decoder!.decode(bytes, { stream: bytes !== undefined });
      if (!text.includes('\0')) return text;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    throw new InputError(`${path} is no text in UTF-8`, {
      hint: 'save it as UTF-8 (Excel: "CSV UTF-8"); a workbook must be saved as .xlsx, and its name must say so',
    });
  };
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    decoder ??= new TextDecoder(encodingOf(bytes), { fatal: true });
    yield decode(bytes);
  }
  if (decoder !== undefined) yield decode();
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

export async function readText(path: string): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of textPieces(path)) pieces.push(piece);
  return pieces.join('');
}

/** Its lines without what ends them (LF or CRLF). */
export async function* textLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of textPieces(path)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
  if (rest !== '') yield rest;
}
