import { InputError } from '../core/index.ts';

/** An encoded picture as a data URL, the form in which every OpenAI-compatible server takes pictures. */
export function imageDataUrl(bytes: Uint8Array, mime: string): string {
  if (!/^image\/[a-z0-9.+-]+$/i.test(mime)) {
    throw new InputError(`imageDataUrl: got the type ${JSON.stringify(mime)}, allowed is image/...`, {
      hint: 'servers take image/jpeg, image/png and image/webp',
    });
  }
  if (bytes.length === 0) throw new InputError('imageDataUrl: the picture has no bytes');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return `data:${mime.toLowerCase()};base64,${buffer.toString('base64')}`;
}
