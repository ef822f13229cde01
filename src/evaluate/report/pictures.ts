import { type Html, html } from './html.ts';

const startsWith = (bytes: Uint8Array, at: number, ...expected: number[]): boolean =>
  expected.every((byte, i) => bytes[at + i] === byte);

/** The media type of a picture that browsers show, by its first bytes. */
export function mediaType(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, 0, 0x89, 0x50, 0x4e, 0x47)) return 'image/png';
  if (startsWith(bytes, 0, 0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (startsWith(bytes, 0, 0x47, 0x49, 0x46, 0x38)) return 'image/gif';
  if (startsWith(bytes, 0, 0x52, 0x49, 0x46, 0x46) && startsWith(bytes, 8, 0x57, 0x45, 0x42, 0x50))
    return 'image/webp';
  return undefined;
}

/** An inline picture, or a labelled box that says why there is none. */
export function pictureTag(bytes: Uint8Array | undefined, alt: string): Html {
  if (bytes === undefined) return html`<div class="picture absent">${alt} is not available</div>`;
  const type = mediaType(bytes);
  if (type === undefined)
    return html`<div class="picture absent">${alt} is in no format that browsers show</div>`;
  const uri = `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
  return html`<img class="picture" alt="${alt}" src="${uri}">`;
}
