import sharp from 'sharp';
import { type Progress, silentProgress } from '../../core/index.ts';
import { inParallel } from '../../data/index.ts';
import type { Prediction } from '../predictions.ts';
import type { ReportData } from './report-data.ts';

/** Longest side in pixels: sharp at twice the density of the card. */
const SIDE = 144;
const QUALITY = 55;
const SHEET_WIDTH = 1600;

/** A small picture as a data address, or why there is none. */
export type Thumbnail = { uri: string } | { missing: string };

const dataUri = (bytes: Uint8Array): string =>
  `data:image/webp;base64,${Buffer.from(bytes).toString('base64')}`;

export async function thumbnail(bytes: Uint8Array | undefined, side = SIDE): Promise<Thumbnail> {
  if (bytes === undefined) return { missing: 'no picture' };
  try {
    const small = await sharp(bytes, { pages: 1 })
      .autoOrient()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .webp({ quality: QUALITY })
      .toBuffer();
    return { uri: dataUri(small) };
  } catch {
    // What sharp cannot read is said in the picture's place; a report is not stopped by one picture.
    return { missing: 'picture cannot be read' };
  }
}

/** Thumbnails by path of the picture; predictions of one picture share one. */
export async function thumbnailsOf(
  predictions: readonly Prediction[],
  picture: ReportData['picture'],
  progress: Progress = silentProgress,
): Promise<Map<string, Thumbnail>> {
  const byImage = [...new Map(predictions.map((prediction) => [pictureKey(prediction), prediction]))];
  const found = new Map<string, Thumbnail>();
  progress.start('thumbnails', byImage.length);
  await inParallel(byImage.length, 4, async (i) => {
    const [key, prediction] = byImage[i]!;
    found.set(key, await thumbnail(await picture(prediction)));
    progress.update(found.size);
  });
  progress.stop();
  return found;
}

/** One picture of one data set: models name the same file. */
export const pictureKey = ({ dataset, image }: Prediction): string => `${dataset}\n${image}`;

/** An overview picture at the width of the page. */
export async function sheetUri(bytes: Uint8Array | undefined): Promise<string | undefined> {
  if (bytes === undefined) return undefined;
  try {
    const small = await sharp(bytes)
      .resize({ width: SHEET_WIDTH, withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
    return dataUri(small);
  } catch {
    return undefined;
  }
}
