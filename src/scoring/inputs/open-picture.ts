import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Sharp } from 'sharp';
import { asStorageError, InputError, type RgbImage } from '../../core/index.ts';
import { decodeImage } from '../../data/index.ts';
import { requireRgbImage } from '../../model/index.ts';
import {
  isNodeStream,
  isWebStream,
  type NodeByteStream,
  readStream,
  tooLarge,
  type WebByteStream,
} from './byte-streams.ts';
import { bytesOfDataUrl } from './data-url.ts';
import { requireFormat } from './format.ts';
import { type InputOptions, type InputRules, inputRules } from './options.ts';
import { fetchPicture, shownUrl } from './remote.ts';
import { isSharp, pixelsOfSharp } from './sharp-instance.ts';

/** A Blob or File, as far as it is needed. */
export interface BlobLike {
  readonly size: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * A picture to score:
 * - a path, a `file:` URL, a `data:` URL or (`allowHttp`) an `http(s):` URL, as text or as URL;
 * - an encoded file in memory: Buffer, Uint8Array, ArrayBuffer, Blob or File;
 * - an encoded file as it comes: a web ReadableStream or a Node Readable of bytes, which is read once;
 * - a sharp instance, which is not consumed;
 * - pixels.
 */
export type Picture =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | BlobLike
  | WebByteStream
  | NodeByteStream
  | Sharp
  | RgbImage;

/**
 * Decodes a picture of any kind to 8-bit sRGB.
 *
 * The content decides, never the name or a media type: a PNG called `.jpg` is a PNG. An orientation tag is
 * applied; transparency is laid on white; grey, CMYK and embedded colour profiles are converted to sRGB; 16 bits
 * are reduced to 8; of an animation or a file of several pages the first is taken. Size alone is no reason to
 * refuse a picture here, a model may be stricter (`Scorer.requireScorable`).
 *
 * InputError for what is empty, truncated, damaged, no picture, of a format that is not allowed, or beyond a
 * limit; StorageError for a path that cannot be read; RemoteError for a server that does not answer well;
 * ConfigError for impossible options; the signal's reason on abort.
 */
export async function openPicture(
  input: Picture,
  options: InputOptions & { signal?: AbortSignal } = {},
): Promise<RgbImage> {
  const rules = inputRules(options);
  const { signal } = options;
  signal?.throwIfAborted();
  if (input instanceof Uint8Array) return decode(asBuffer(input), 'image', rules);
  if (input instanceof ArrayBuffer) return decode(Buffer.from(input), 'image', rules);
  if (typeof input === 'string' || input instanceof URL) return openAddress(input, rules, signal);
  if (typeof input !== 'object' || input === null) {
    throw new InputError(`a picture was expected, got ${input === null ? 'null' : typeof input}`, {
      hint: 'give a path, a URL, the bytes of a file, a stream, a sharp instance or pixels',
    });
  }
  // A sharp instance is a Node stream too.
  if (isSharp(input)) return pixelsOfSharp(input, rules);
  if (isWebStream(input) || isNodeStream(input)) {
    return decode(await readStream(input, 'the stream', rules, signal), 'the stream', rules);
  }
  if (typeof (input as Partial<BlobLike>).arrayBuffer === 'function') {
    const blob = input as BlobLike;
    if (blob.size > rules.maxBytes) throw tooLarge('the blob', rules.maxBytes);
    return decode(Buffer.from(await blob.arrayBuffer()), 'the blob', rules);
  }
  const image = input as RgbImage;
  requireRgbImage(image);
  if (image.width * image.height > rules.maxPixels) {
    throw new InputError(`the image has more than the ${rules.maxPixels} pixels allowed`, {
      hint: 'scale it down first, or raise input.maxPixels',
    });
  }
  return image;
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function decode(
  bytes: Buffer,
  name: string,
  { maxBytes, maxPixels, allowSvg }: InputRules,
): Promise<RgbImage> {
  if (bytes.length > maxBytes) throw tooLarge(name, maxBytes);
  requireFormat(bytes, name, allowSvg);
  return decodeImage(bytes, { name, pixelLimit: maxPixels });
}

async function openAddress(
  input: string | URL,
  rules: InputRules,
  signal: AbortSignal | undefined,
): Promise<RgbImage> {
  const text = typeof input === 'string' ? input : input.href;
  const scheme = /^(data|file|https?):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'data') return decode(bytesOfDataUrl(text, rules.maxBytes), 'the data URL', rules);
  if (scheme === 'file') return openFile(pathOf(text), rules, signal);
  if (scheme === undefined) {
    if (input instanceof URL) {
      throw new InputError(`${input.protocol} URLs are not read, allowed are file, data, http and https`);
    }
    return openFile(text, rules, signal);
  }
  if (!URL.canParse(text)) throw new InputError(`"${text}" is no URL`);
  const url = new URL(text);
  if (!rules.allowHttp) {
    throw new InputError(`${shownUrl(url)} is not fetched: URLs are not allowed`, {
      hint: 'download the picture and give the file, or set input.allowHttp',
    });
  }
  return decode(await fetchPicture(url, rules, signal), shownUrl(url), rules);
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new InputError(`"${url}" names no file here`, { cause: error });
  }
}

async function openFile(path: string, rules: InputRules, signal: AbortSignal | undefined): Promise<RgbImage> {
  if (path === '' || path.includes('\0')) {
    throw new InputError(path === '' ? 'the path of the image is empty' : 'the path holds a zero character');
  }
  return decode(await bytesOfFile(path, rules.maxBytes, signal), path, rules);
}

async function bytesOfFile(path: string, maxBytes: number, signal: AbortSignal | undefined): Promise<Buffer> {
  try {
    const status = await stat(path);
    if (status.isDirectory()) {
      throw new InputError(`${path} is a folder, an image file was expected`, {
        hint: 'name the image files in it',
      });
    }
    // Reading a pipe or a device could last for ever.
    if (!status.isFile()) throw new InputError(`${path} is no regular file`);
    if (status.size > maxBytes) throw tooLarge(path, maxBytes);
    return await readFile(path, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw asStorageError(error, `reading image ${path}`);
  }
}
