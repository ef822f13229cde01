import { InputError, levelOfScore } from '../../core/index.ts';
import { type Distortion, type Prediction, SCORE_RANGE } from '../predictions.ts';
import { namedSpans } from './highlight.ts';
import type { ReportData } from './report-data.ts';
import { splitsOf } from './results-table.ts';
import { pictureKey, type Thumbnail } from './thumbnails.ts';
import { spaced } from './words.ts';

/** One model's answer about a picture, as the page's script reads it. */
export interface GalleryAnswer {
  score: number | null;
  status: string;
  text: string;
  /** The stretch of `text` that is shown: the reasoning, or the whole answer where there is none. */
  shown: [from: number, to: number];
  /** `[from, to, type, verdict]` of each name of a distortion, counted from the start of what is shown. */
  spans: [number, number, string, string][];
  named: string[];
  level: string | null;
  /** Words to filter by: "ok", the parser's verdict, "malformed", "cut", "level is not the score's". */
  flags: string[];
}

/** A picture of a split with the answers of all models, in the order of the models. */
export interface GalleryRow {
  id: string;
  image: string;
  split: number;
  mos: number;
  std: number | null;
  /** Index of the thumbnail, or why there is none. */
  picture: number | string;
  /** Types in the picture; null where nobody knows. */
  truth: string[] | null;
  /** The same with severities, for reading. */
  truthText: string;
  answers: (GalleryAnswer | null)[];
}

export interface GalleryData {
  models: string[];
  splits: string[];
  rows: GalleryRow[];
  /** Rows left out beyond the size of the gallery. */
  leftOut: number;
}

export const GALLERY_SIZE = 4000;

export const FLAGS = {
  scored: 'scored',
  noScore: 'no score',
  malformed: 'not well-formed',
  cut: 'cut by the length limit',
  otherLevel: 'stated level is not the score\u2019s',
} as const;

/** Every picture of every split once, the largest error of the last model first; answers without a score last. */
export function galleryRows(
  data: ReportData,
): Omit<GalleryData, 'rows'> & { rows: (GalleryRow & { key: string })[] } {
  const splits = splitsOf(data);
  const rows = new Map<string, GalleryRow & { key: string }>();
  for (const [m, model] of data.models.entries()) {
    for (const { split, predictions } of model.splits) {
      for (const prediction of predictions) {
        const key = `${split}\n${prediction.id}`;
        const row = rows.get(key) ?? emptyRow(prediction, splits.indexOf(split), data.models.length);
        rows.set(key, row);
        requireSamePicture(row, prediction, split);
        row.answers[m] = answerOf(prediction);
      }
    }
  }
  const all = [...rows.values()].sort((a, b) => errorOf(b) - errorOf(a) || (a.id < b.id ? -1 : 1));
  const size = data.gallerySize ?? GALLERY_SIZE;
  return {
    models: data.models.map(({ name }) => name),
    splits,
    rows: all.slice(0, size),
    leftOut: Math.max(0, all.length - size),
  };
}

/** A row shows one picture with one MOS: data sets that share ids but not opinions must not be mixed. */
function requireSamePicture({ id, mos }: GalleryRow, prediction: Prediction, split: string): void {
  if (round(prediction.mos) === mos) return;
  throw new InputError(
    `picture ${id} of "${split}" has the MOS ${mos} in one result and ${round(prediction.mos)} in another`,
    { hint: 'these are different data sets of one name: write a page for each' },
  );
}

/** Gives each row its thumbnail; rows of one picture share it. */
export function withThumbnails(
  { rows, ...rest }: ReturnType<typeof galleryRows>,
  thumbnails: ReadonlyMap<string, Thumbnail>,
): { gallery: GalleryData; uris: string[] } {
  const uris: string[] = [];
  const index = new Map<string, number>();
  const shown = rows.map(({ key, ...row }): GalleryRow => {
    const thumbnail = thumbnails.get(key) ?? { missing: 'no picture' };
    if ('missing' in thumbnail) return { ...row, picture: thumbnail.missing };
    const known = index.get(key);
    if (known !== undefined) return { ...row, picture: known };
    index.set(key, uris.length);
    uris.push(thumbnail.uri);
    return { ...row, picture: uris.length - 1 };
  });
  return { gallery: { ...rest, rows: shown }, uris };
}

const errorOf = ({ answers, mos }: GalleryRow): number => {
  const score = answers.at(-1)?.score;
  return score === null || score === undefined ? -1 : Math.abs(score - mos);
};

function emptyRow(prediction: Prediction, split: number, models: number): GalleryRow & { key: string } {
  const { id, image, mos, mosStd, distortionsTrue } = prediction;
  return {
    key: pictureKey(prediction),
    id,
    image,
    split,
    mos: round(mos),
    std: mosStd === undefined ? null : round(mosStd),
    picture: 'no picture',
    truth: distortionsTrue?.map(({ type }) => type) ?? null,
    truthText: distortionsTrue === undefined ? 'unknown' : distortionText(distortionsTrue, 'pristine'),
    answers: new Array<null>(models).fill(null),
  };
}

function answerOf(prediction: Prediction): GalleryAnswer {
  const { score, status, text, levelStated, distortionsNamed } = prediction;
  const shown = shownStretch(prediction);
  return {
    score: score === null ? null : round(score),
    status,
    text,
    shown,
    spans: namedSpans(text.slice(...shown), prediction).map(({ from, to, type, verdict }) => [
      from,
      to,
      spaced(type),
      verdict,
    ]),
    named: distortionsNamed.map((one) => distortionText([one], '')),
    level: levelStated ?? null,
    flags: flagsOf(prediction),
  };
}

/** The reasoning lies in the answer as it was written; of imported rows where it does not, the whole is shown. */
function shownStretch({ text, reasoning }: Prediction): [from: number, to: number] {
  const from = reasoning === undefined ? -1 : text.indexOf(reasoning);
  return from < 0 ? [0, text.length] : [from, from + reasoning!.length];
}

function flagsOf({ score, status, wellFormed, finishReason, levelStated }: Prediction): string[] {
  const onScale = score !== null && score >= SCORE_RANGE.lowest && score <= SCORE_RANGE.highest;
  return [
    score === null ? FLAGS.noScore : FLAGS.scored,
    ...(status === 'ok' ? [] : [`${FLAGS.noScore}: ${status}`]),
    ...(wellFormed ? [] : [FLAGS.malformed]),
    ...(finishReason === 'length' ? [FLAGS.cut] : []),
    ...(onScale && levelStated !== undefined && levelOfScore(score) !== levelStated
      ? [FLAGS.otherLevel]
      : []),
  ];
}

export const distortionText = (distortions: readonly Distortion[], whenEmpty: string): string =>
  distortions.length === 0
    ? whenEmpty
    : distortions
        .map(({ type, level }) => (level === undefined ? spaced(type) : `${spaced(type)} ${level}/5`))
        .join(', ');

const round = (value: number): number => Number(value.toFixed(4));
