import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { Rng } from '../../../src/core/index.ts';
import { answer, type Handler, type SeenRequest } from '../../remote/chat-server.ts';

/** A data set of tiny pictures of different colors, with MOS 1.5, 2, ... */
export async function makeDataset(folder: string, count: number): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  const rows: object[] = [];
  for (let i = 0; i < count; i++) {
    const id = `p${i}`;
    const background = { r: i % 256, g: Math.floor(i / 256), b: 100 };
    const bytes = await sharp({ create: { width: 16, height: 16, channels: 3, background } })
      .png()
      .toBuffer();
    await writeFile(join(folder, `${id}.png`), bytes);
    urls.set(`data:image/png;base64,${bytes.toString('base64')}`, id);
    rows.push({
      id,
      image: `${id}.png`,
      dataset: 'tiny',
      split: 'train',
      mos: mosOf(id),
      mosStd: null,
      raters: null,
      distortions: [],
      content: null,
      group: id,
      source: 'imported',
      generator: null,
    });
  }
  await writeFile(join(folder, 'records.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return urls;
}

export const mosOf = (id: string): number => 1.5 + (Number(id.slice(1)) % 7) / 2;

const LEVELS = ['bad', 'poor', 'fair', 'good', 'excellent'];
const WORDS =
  'roof tree street lamp window hill river boat cloud stone bridge tower garden field bench horse glass table'.split(
    ' ',
  );

/** An answer that every filter accepts: words of its own for each image and sample. */
export function goodAnswer(id: string, sample: number, score = mosOf(id)): string {
  const rng = new Rng(1).fork(id, sample);
  const shown = Array.from({ length: 12 }, () => rng.pick(WORDS)).join(' ');
  const level = LEVELS[Math.min(4, Math.floor((score - 1) / 0.8 + 1e-9))];
  return `<think>The picture shows ${shown} in the middle of the frame with clear edges. Overall, the quality is ${level}.</think><answer>${score.toFixed(2)}</answer>`;
}

export interface Asked {
  id: string;
  sample: number;
}

/** Which question a request asks: the picture tells the image, the seed (1 + sample) the sample. */
export function questionIn({ body }: SeenRequest, urls: ReadonlyMap<string, string>): Asked {
  const url: string = body.messages[0].content[0].image_url.url;
  return { id: urls.get(url) ?? 'unknown', sample: body.seed - 1 };
}

export const teaching =
  (urls: ReadonlyMap<string, string>, say = goodAnswer): Handler =>
  (request, response) => {
    const { id, sample } = questionIn(request, urls);
    return answer({ texts: [say(id, sample)] })(request, response);
  };

export async function jsonLines<T>(path: string): Promise<T[]> {
  return (await readFile(path, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The questions in a journal that may end in the middle of a line. */
export async function journaled(folder: string): Promise<Asked[]> {
  const text = await readFile(join(folder, 'answers.jsonl'), 'utf8').catch(() => '');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Asked);
}
