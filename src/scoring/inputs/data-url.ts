import { InputError } from '../../core/index.ts';
import { tooLarge } from './byte-streams.ts';

const NO_BASE64 = /[^A-Za-z0-9+/_=\s-]/;

/**
 * The bytes of a `data:` URL (RFC 2397). The media type is not looked at: the content decides. InputError for a
 * malformed one and for more bytes than allowed, which is seen before decoding.
 */
export function bytesOfDataUrl(url: string, maxBytes: number): Buffer {
  const comma = url.indexOf(',');
  if (comma < 0) {
    throw new InputError('the data URL has no comma', { hint: 'the form is data:image/png;base64,<data>' });
  }
  const data = url.slice(comma + 1);
  const isBase64 = /;\s*base64\s*$/i.test(url.slice('data:'.length, comma));
  // Base64 takes 4 characters for 3 bytes; an escape takes 3 for one.
  if (data.length / (isBase64 ? 1.4 : 3) > maxBytes) throw tooLarge('the data URL', maxBytes);
  const bytes = isBase64 ? fromBase64(data) : fromEscapes(data);
  if (bytes.length > maxBytes) throw tooLarge('the data URL', maxBytes);
  return bytes;
}

function fromBase64(data: string): Buffer {
  const text = data.includes('%') ? fromEscapes(data).toString('latin1') : data;
  if (NO_BASE64.test(text)) {
    throw new InputError('the data URL holds characters that are no base64', {
      hint: 'the form is data:image/png;base64,<data>',
    });
  }
  return Buffer.from(text, 'base64');
}

function fromEscapes(data: string): Buffer {
  const text = data.replace(/%([0-9A-Fa-f]{2})/g, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
  return Buffer.from(text, 'latin1');
}
