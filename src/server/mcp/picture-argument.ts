import { z } from 'zod';
import { InputError } from '../../core/index.ts';
import { type Roots, readWithin } from './roots.ts';

/** How a tool is told which picture: one of the two. */
export const pictureShape = {
  path: z.string().optional().describe('Path of an image file inside the folders that may be read'),
  data: z
    .string()
    .optional()
    .describe('The image itself: a data URL (data:image/png;base64,...) or base64 alone'),
};

export type PictureArgument = { [K in keyof typeof pictureShape]?: string | undefined };

/**
 * The encoded picture that an argument names. Only bytes and data URLs leave here: as any other text the scorer
 * would read a file.
 */
export async function pictureOf(
  { path, data }: PictureArgument,
  roots: Roots,
  maxBytes: number,
): Promise<Buffer | string> {
  if ((path === undefined) === (data === undefined)) {
    throw new InputError(
      path === undefined ? 'neither path nor data is given' : 'path and data are both given',
      {
        hint: 'give either the path of an image file or its data',
      },
    );
  }
  if (path !== undefined) return readWithin(roots, path, maxBytes);
  return /^data:/i.test(data!) ? data! : bytesOfBase64(data!, maxBytes);
}

function bytesOfBase64(text: string, maxBytes: number): Buffer {
  const compact = text.replace(/\s+/g, '');
  if (compact === '' || !/^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/.test(compact)) {
    throw new InputError('data is neither a data URL nor base64', {
      hint: 'a file on this machine is named by path; URLs are not fetched',
    });
  }
  // Four characters hold three bytes.
  if ((compact.length * 3) / 4 > maxBytes + 2) {
    throw new InputError(`data has more than the ${maxBytes} bytes allowed`, {
      hint: 'scale the picture down',
    });
  }
  return Buffer.from(compact, 'base64');
}
