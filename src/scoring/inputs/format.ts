import { InputError } from '../../core/index.ts';

/** Kinds of picture that are read. What a file is called says nothing: its first bytes decide. */
export const PICTURE_FORMATS = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'avif'] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

const READABLE = 'JPEG, PNG, WebP, GIF, TIFF and AVIF';
/** Bytes at the start that decide; an SVG may have a comment before its first element. */
const HEAD_BYTES = 1024;

type Kind = PictureFormat | 'svg' | 'BMP' | 'HEIC' | 'JPEG XL' | 'JPEG 2000' | 'PDF' | 'ICO';

const SIGNATURES: readonly { kind: Kind; at: number; bytes: string }[] = [
  { kind: 'jpeg', at: 0, bytes: '\xff\xd8\xff' },
  { kind: 'png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { kind: 'webp', at: 8, bytes: 'WEBP' },
  { kind: 'gif', at: 0, bytes: 'GIF87a' },
  { kind: 'gif', at: 0, bytes: 'GIF89a' },
  { kind: 'tiff', at: 0, bytes: 'II*\0' },
  { kind: 'tiff', at: 0, bytes: 'MM\0*' },
  { kind: 'tiff', at: 0, bytes: 'II+\0' },
  { kind: 'tiff', at: 0, bytes: 'MM\0+' },
  { kind: 'JPEG XL', at: 0, bytes: '\xff\x0a' },
  { kind: 'JPEG XL', at: 4, bytes: 'JXL ' },
  { kind: 'JPEG 2000', at: 4, bytes: 'jP  ' },
  { kind: 'PDF', at: 0, bytes: '%PDF' },
  { kind: 'BMP', at: 0, bytes: 'BM' },
  { kind: 'ICO', at: 0, bytes: '\0\0\x01\0' },
];

function kindOf(head: string): Kind | undefined {
  if (head.slice(4, 8) === 'ftyp') {
    const brands = head.slice(8, 72);
    if (/avi[fs]/.test(brands)) return 'avif';
    return /hei[cfmsx]|hev[cmsx]|mif1|msf1/.test(brands) ? 'HEIC' : undefined;
  }
  const known = SIGNATURES.find(({ at, bytes }) => head.startsWith(bytes, at));
  if (known?.kind === 'webp' && !head.startsWith('RIFF')) return undefined;
  if (known !== undefined) return known.kind;
  return /^(?:\xef\xbb\xbf)?\s*<(?:svg|\?xml|!--|!DOCTYPE)/i.test(head) && /<svg[\s>]/i.test(head)
    ? 'svg'
    : undefined;
}

/**
 * The format of an encoded picture by its content. InputError for no bytes, for what is no picture, and for
 * formats that are not on the list.
 */
export function requireFormat(bytes: Uint8Array, name: string, allowSvg: boolean): PictureFormat | 'svg' {
  if (bytes.length === 0) {
    throw new InputError(`${name} is empty (0 bytes)`, { hint: 'copy or download the file again' });
  }
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const kind = kindOf(head.toString('latin1'));
  if (kind === undefined) {
    throw new InputError(`${name} is not an image that can be read`, {
      hint: `allowed are ${READABLE}; if it is one of these, it is damaged`,
    });
  }
  if (kind === 'svg' && !allowSvg) {
    throw new InputError(`${name} is an SVG drawing, which is not read unless it is allowed`, {
      hint: 'convert it to PNG, or set allowSvg',
    });
  }
  const allowed = [...PICTURE_FORMATS, 'svg' as const].find((format) => format === kind);
  if (allowed === undefined) {
    throw new InputError(`${name} is a ${kind} file, which is not supported`, {
      hint: `convert it to PNG; allowed are ${READABLE}`,
    });
  }
  return allowed;
}
