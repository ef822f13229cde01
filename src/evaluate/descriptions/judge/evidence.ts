import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { asStorageError, InputError, levelOfScore, listNames } from '../../../core/index.ts';
import { DISTORTION_WORDS, SEVERITY_WORDS } from '../../../data/index.ts';
import { imageDataUrl } from '../../../remote/index.ts';
import type { Description } from '../description.ts';

const MAGIC: readonly [string, RegExp][] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF.{4}WEBP/s],
];

/** Above this a request is refused by most servers. */
const LARGEST_PICTURE = 16 * 1024 * 1024;

const isKnown = ({ distortions, mos }: Description): boolean =>
  distortions !== undefined || mos !== undefined;

/** What is known about a picture, in words, for a judge. */
export function truthInWords({ distortions, mos }: Description, withPicture: boolean): string {
  const lines: string[] = [];
  if (distortions !== undefined) {
    const named = distortions.map(({ type, level }) => {
      const [name] = DISTORTION_WORDS[type].phrases;
      return level === undefined ? name : `${SEVERITY_WORDS[level]} ${name}`;
    });
    lines.push(
      named.length === 0
        ? 'The picture has no distortion.'
        : `Distortions in the picture, and no others: ${named.join(', ')}.`,
    );
    lines.push(`Severities from weak to strong: ${Object.values(SEVERITY_WORDS).join(', ')}.`);
  }
  if (mos !== undefined) {
    lines.push(
      `Viewers rate it ${mos.toFixed(2)} on a scale from 1 (bad) to 5 (excellent): ${levelOfScore(mos)}.`,
    );
  }
  if (withPicture) lines.push('You see the picture itself.');
  return lines.join('\n');
}

/** A judge without anything to judge by would grade style. InputError where that would happen. */
export function requireEvidence(descriptions: readonly Description[], withPicture: boolean): void {
  const blind = descriptions.filter(
    (description) => !(isKnown(description) || (withPicture && description.image !== undefined)),
  );
  if (blind.length === 0) return;
  throw new InputError(
    `nothing is known about the pictures of ${blind.length} of ${descriptions.length} descriptions: ${listNames(blind.map(({ id }) => id))}`,
    { hint: 'give the data set that the ids belong to, or let the judge see the pictures' },
  );
}

/** The picture of a description as a data URL. */
export async function pictureOf({ id, image }: Description, folder: string): Promise<string> {
  if (image === undefined) {
    throw new InputError(`the description ${id} names no picture`, {
      hint: 'give the data set it belongs to',
    });
  }
  const path = isAbsolute(image) ? image : join(folder, image);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw asStorageError(error, `reading the picture ${path}`);
  }
  const start = bytes.subarray(0, 12).toString('latin1');
  const mime = MAGIC.find(([, pattern]) => pattern.test(start))?.[0];
  if (mime === undefined || bytes.length > LARGEST_PICTURE) {
    const what = mime === undefined ? 'is no PNG, JPEG or WebP' : `has ${bytes.length} bytes`;
    throw new InputError(`${path} ${what}, so no judge can be shown it`, {
      hint: `give pictures of PNG, JPEG or WebP of at most ${LARGEST_PICTURE} bytes, or judge without pictures`,
    });
  }
  return imageDataUrl(bytes, mime);
}
