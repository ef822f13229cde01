import { pipeline, type Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Failure } from './failure.ts';

interface Decoder {
  whole(bytes: Buffer, limit: { maxOutputLength: number }): Promise<Buffer>;
  stream(): Transform;
}

const GZIP: Decoder = { whole: promisify(zlib.unzip), stream: zlib.createUnzip };

const inflate = promisify(zlib.inflate);
const inflateRaw = promisify(zlib.inflateRaw);

/** `deflate` means the format of zlib (RFC 9110, 8.4.1.2), and some servers send it without its two bytes of header. */
const DEFLATE: Decoder = {
  whole: (bytes, limit) =>
    ((bytes[0] ?? 0) & 0x0f) === 8 ? inflate(bytes, limit) : inflateRaw(bytes, limit),
  stream: zlib.createInflate,
};

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: DEFLATE,
  br: { whole: promisify(zlib.brotliDecompress), stream: zlib.createBrotliDecompress },
};

/** Each encoding is a layer; a reply with more layers than this is an attack. */
const MOST_LAYERS = 3;

/** What undoes a Content-Encoding, outermost first; empty for none. */
function decodersOf(header: string | undefined, status: number): Decoder[] {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const decoders = names.map((name) => (Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined));
  if (names.length <= MOST_LAYERS && decoders.every((decoder) => decoder !== undefined)) {
    return decoders.reverse();
  }
  throw new Failure('malformed', 'the reply is encoded in a way that is not known', {
    retryable: false,
    status,
    said: names.join(', '),
    hint: 'known are gzip, deflate and br: look at the server, or at a proxy before it',
  });
}

export function tooLarge(limit: number, status: number): Failure {
  return new Failure('malformed', `the reply is larger than ${limit} bytes`, {
    retryable: false,
    status,
    hint: 'no answer is as long as that: is this the address of a chat server?',
  });
}

/** The bytes of a whole body, decoded. More than `limit` of them, or bytes that cannot be decoded, are a Failure. */
export async function decodeWhole(
  bytes: Buffer,
  header: string | undefined,
  status: number,
  limit: number,
): Promise<Buffer> {
  let decoded = bytes;
  for (const { whole } of decodersOf(header, status)) {
    if (decoded.length === 0) break;
    try {
      decoded = await whole(decoded, { maxOutputLength: limit });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit, status);
      throw new Failure(
        'malformed',
        `the reply says that it is encoded by ${header}, and is not, or was cut`,
        {
          retryable: true,
          status,
          hint: 'look at the server, or at a proxy before it',
        },
      );
    }
  }
  return decoded;
}

/** The same for a body that is read as it comes; what breaks it is thrown to its reader. */
export function decodeStream(body: Readable, header: string | undefined, status: number): Readable {
  return decodersOf(header, status).reduce<Readable>(
    // A failure destroys both ends, and the reader is told by the last of them.
    (source, { stream }) => pipeline(source, stream(), () => undefined),
    body,
  );
}
