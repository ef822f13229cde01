/** The picture formats that can be read, by how their files begin: bytes in hexadecimal, ".." being any byte. */
const SIGNATURES: readonly (readonly [extension: string, start: RegExp])[] = [
  ['jpg', /^ffd8ff/],
  ['png', /^89504e470d0a1a0a/],
  ['webp', /^52494646.{8}57454250/],
  ['gif', /^47494638(?:37|39)61/],
  ['tif', /^(?:49492a00|4d4d002a)/],
  ['avif', /^.{8}66747970(?:61766966|61766973)/],
  ['bmp', /^424d/],
];

/** The extension that a picture file with these bytes should have; undefined where they are no picture. */
export function pictureExtension(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString('hex');
  return SIGNATURES.find(([, signature]) => signature.test(start))?.[0];
}
