import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { formatAnswer, hasContractTags, QUALITY_LEVELS, SCORE_MAX, SCORE_MIN } from '../core/index.ts';
import type { Recorded, RecordedTexts } from './replay.ts';
import { statedLevel } from './stated-level.ts';
import type { TeachingRecord } from './teacher.ts';
import { readTeacherTexts, type TeacherText } from './teacher-texts.ts';

/**
 * Where the score of an imported text comes from. 'text': from its own score or grade (the middle of that level:
 * 1.4, 2.2, 3, 3.8, 4.6), and a text without either stays without an answer. 'mos': from the people's mean, so that
 * only the words are the teacher's.
 */
export const IMPORT_SCORES = ['text', 'mos'] as const;
export type ImportScore = (typeof IMPORT_SCORES)[number];

const fileName = (path: string): string => basename(path.replaceAll('\\', '/')).toLowerCase();
const stem = (name: string): string => name.slice(0, name.length - extname(name).length);

/** Finds the record a text speaks of: by id, by file name, by file name without extension; case does not count. */
function finder(records: readonly TeachingRecord[]): (text: TeacherText) => TeachingRecord | undefined {
  const byName = new Map<string, TeachingRecord>();
  const byStem = new Map<string, TeachingRecord>();
  const byId = new Map(records.map((record) => [record.id, record]));
  for (const record of records) {
    const name = fileName(record.image);
    byName.set(name, record);
    byStem.set(stem(name), record);
  }
  return ({ image, id }) => {
    const name = fileName(image);
    // A row number is an id as well, so the name of the image counts more.
    return (
      byName.get(name) ?? byStem.get(stem(name)) ?? byStem.get(name) ?? byId.get(image) ?? byId.get(id ?? '')
    );
  };
}

/** An imported text in the output contract. One that is in it already stays as it is. */
export function asAnswer(said: TeacherText, record: TeachingRecord, from: ImportScore): string {
  const { text, grade } = said;
  if (hasContractTags(text)) return text;
  const reasoning = text
    .replaceAll(/<\/?(?:think|answer)>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const stated = statedLevel(reasoning);
  const closed = /[.!?。！？]["'”’)）]*$/u.test(reasoning) ? reasoning : `${reasoning}.`;
  const whole =
    stated === undefined && grade !== undefined ? `${closed} The overall quality is ${grade}.` : closed;
  const level = grade ?? stated;
  const own = said.score ?? (level === undefined ? undefined : 1.4 + 0.8 * QUALITY_LEVELS.indexOf(level));
  const score = from === 'mos' ? record.mos : own;
  if (reasoning === '' || score === undefined || !(score >= SCORE_MIN && score <= SCORE_MAX)) return text;
  return formatAnswer(whole, score);
}

/** Reads teacher texts and puts them to the images of a data set. */
export async function readImport(
  path: string,
  records: readonly TeachingRecord[],
  score: ImportScore,
): Promise<RecordedTexts & { unmatched: number }> {
  const find = finder(records);
  const texts = new Map<string, Recorded[]>();
  const hash = createHash('sha256');
  let unmatched = 0;
  for (const said of await readTeacherTexts(path)) {
    const record = find(said);
    if (record === undefined) {
      unmatched++;
      texts.set(said.image, texts.get(said.image) ?? []);
      continue;
    }
    const text = asAnswer(said, record, score);
    hash.update(`${JSON.stringify([record.id, text])}\n`);
    const ofImage = texts.get(record.id) ?? [];
    ofImage.push({ text });
    texts.set(record.id, ofImage);
  }
  return { name: `import/${basename(path)}`, version: hash.digest('hex').slice(0, 16), texts, unmatched };
}
