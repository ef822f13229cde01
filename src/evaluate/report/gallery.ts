import { levelOfScore } from '../../core/index.ts';
import { type Distortion, type Prediction, SCORE_RANGE } from '../predictions.ts';
import { type Html, html, NOTHING } from './html.ts';
import { signed } from './numbers.ts';
import { pictureTag } from './pictures.ts';
import type { ReportData } from './report-data.ts';

const GALLERY_SIZE = 6;

export type Scored = Prediction & { score: number };

export const errorOf = ({ score, mos }: Scored): number => score - mos;

const isScored = (prediction: Prediction): prediction is Scored => prediction.score !== null;

const byError = (predictions: readonly Prediction[]): Scored[] =>
  predictions
    .filter(isScored)
    // Ids break ties, so that a report of the same data is the same.
    .sort((a, b) => Math.abs(errorOf(a)) - Math.abs(errorOf(b)) || (a.id < b.id ? -1 : 1));

export const worstPredictions = (predictions: readonly Prediction[], count: number): Scored[] =>
  byError(predictions).toReversed().slice(0, count);

/** The smallest errors, taken from the quality levels in turn: the best of one level alone say little. */
export function bestPredictions(predictions: readonly Prediction[], count: number): Scored[] {
  const queues = new Map<string, Scored[]>();
  for (const prediction of byError(predictions)) {
    const clamped = Math.min(SCORE_RANGE.highest, Math.max(SCORE_RANGE.lowest, prediction.mos));
    const level = levelOfScore(clamped);
    queues.set(level, [...(queues.get(level) ?? []), prediction]);
  }
  const best: Scored[] = [];
  for (
    let turn = 0;
    best.length < count && [...queues.values()].some((queue) => turn < queue.length);
    turn++
  ) {
    for (const queue of queues.values()) if (turn < queue.length) best.push(queue[turn]!);
  }
  return best.slice(0, count).sort((a, b) => a.mos - b.mos);
}

/** Best, worst and unscored predictions of the last model, split by split. */
export async function gallerySections(data: ReportData): Promise<Html[]> {
  const model = data.models.at(-1);
  const size = data.gallerySize ?? GALLERY_SIZE;
  const sections: Html[] = [];
  for (const { split, predictions } of model?.splits ?? []) {
    const missing = predictions.filter((prediction) => prediction.score === null);
    const groups = [
      { title: 'Best', members: bestPredictions(predictions, size) },
      { title: 'Worst', members: worstPredictions(predictions, size) },
      { title: `Without a score (${missing.length})`, members: missing.slice(0, size) },
    ];
    for (const { title, members } of groups) {
      if (members.length === 0) continue;
      const cards: Html[] = [];
      for (const prediction of members) cards.push(await card(data, prediction, split));
      sections.push(
        html`<h3>${title} <small>${model!.name}, ${split}</small></h3><div class="gallery">${cards}</div>`,
      );
    }
  }
  return sections;
}

async function card(data: ReportData, prediction: Prediction, split: string): Promise<Html> {
  const { id, mos, mosStd, score, status, distortionsTrue, distortionsNamed, levelStated } = prediction;
  const picture = pictureTag(await data.picture(prediction), `picture ${id}`);
  const others = data.models.slice(0, -1).flatMap((model) => {
    const same = model.splits.find((one) => one.split === split)?.predictions.find((one) => one.id === id);
    return same === undefined
      ? []
      : [`${model.name}: ${same.score === null ? 'no score' : same.score.toFixed(2)}`];
  });
  return html`<article class="card" data-id="${id}">${picture}
<div class="facts"><p class="scores"><span>MOS <b>${mos.toFixed(2)}</b>${mosStd === undefined ? NOTHING : html` <small>± ${mosStd.toFixed(2)}</small>`}</span>
<span>score <b>${score === null ? 'none' : score.toFixed(2)}</b></span>
<span class="error">${score === null ? status : signed(score - mos, 2)}</span></p>
<dl><dt>true</dt><dd>${distortionsTrue === undefined ? 'unknown' : distortionText(distortionsTrue, 'pristine')}</dd>
<dt>named</dt><dd>${distortionText(distortionsNamed, 'none')}</dd>
<dt>level</dt><dd>${levelStated ?? 'none stated'}</dd></dl>
<p class="note">${id}${others.map((other) => html`<br>${other}`)}</p></div>
<blockquote>${prediction.reasoning ?? prediction.text}</blockquote></article>`;
}

const distortionText = (distortions: readonly Distortion[], whenEmpty: string): string =>
  distortions.length === 0
    ? whenEmpty
    : distortions
        .map(({ type, level }) => (level === undefined ? spaced(type) : `${spaced(type)} ${level}/5`))
        .join(', ');

/** "gaussianBlur" as "gaussian blur". */
const spaced = (type: string): string =>
  type.replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
