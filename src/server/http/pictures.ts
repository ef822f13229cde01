import type { Context } from 'hono';
import type { ServerSettings } from '../settings.ts';
import type { EncodedPicture } from '../threads/tasks.ts';
import { ApiError } from './api-error.ts';

/**
 * A picture given as text: base64, a data URL, or an address where that is allowed. Whether base64 holds a picture
 * is told later, by who decodes it.
 */
export function pictureOfText(text: string, { limits, security }: ServerSettings): EncodedPicture {
  // Base64 takes 4 characters for 3 bytes, and may have line ends.
  if (text.length > limits.imageBytes * 1.4 + 1024) {
    throw new ApiError('TOO_LARGE', `a picture has more than the ${limits.imageBytes} bytes allowed`, {
      hint: 'scale it down first',
    });
  }
  if (/^data:/i.test(text)) return { url: text };
  if (/^https?:\/\//i.test(text)) {
    if (security.allowRemoteUrls) return { url: text };
    throw new ApiError('INPUT', 'pictures are not fetched from addresses', {
      hint: 'send the picture itself, as base64 or a data URL',
    });
  }
  if (text === '') throw emptyPicture();
  // Paths and addresses show themselves at their beginning.
  if (!/^[\w+/=\s-]*$/.test(text.slice(0, 256))) {
    throw new ApiError('INPUT', 'a picture is given as text that is neither base64 nor a data URL', {
      hint: 'send the picture itself: no file of the server is read',
    });
  }
  return { url: `data:;base64,${text}` };
}

/** A value of a form. */
export type FormField = NonNullable<ReturnType<FormData['get']>>;

/** A picture of a form: a file, or text as in JSON. */
export async function pictureOfField(field: FormField, settings: ServerSettings): Promise<EncodedPicture> {
  if (typeof field === 'string') return pictureOfText(field, settings);
  requireSize(field.size, settings);
  return { bytes: new Uint8Array(await field.arrayBuffer()) };
}

const emptyPicture = (): ApiError =>
  new ApiError('INPUT', 'the picture is empty (0 bytes)', { hint: 'send the bytes of the file' });

/** A picture of a request, or why it cannot be one: in a batch it is an item like another. */
export type GivenPicture = EncodedPicture | ApiError;

/** What `read` gives, or the ApiError that it throws. */
export async function orRefusal(read: () => EncodedPicture | Promise<EncodedPicture>): Promise<GivenPicture> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

export function requireSize(bytes: number, { limits }: ServerSettings): void {
  if (bytes === 0) throw emptyPicture();
  if (bytes <= limits.imageBytes) return;
  throw new ApiError('TOO_LARGE', `a picture has more than the ${limits.imageBytes} bytes allowed`, {
    hint: 'scale it down first',
  });
}

export type BodyKind = 'json' | 'multipart' | 'bytes';

/** What a body is by its Content-Type. UNSUPPORTED_MEDIA_TYPE for anything else. */
export function bodyKind({ req }: Pick<Context, 'req'>): BodyKind {
  const type = (req.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === 'application/json') return 'json';
  if (type === 'multipart/form-data') return 'multipart';
  if (type === 'application/octet-stream' || type.startsWith('image/')) return 'bytes';
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the Content-Type of the request is not one that is read', {
    hint: 'send multipart/form-data, application/json, or the file itself as image/* or application/octet-stream',
  });
}
