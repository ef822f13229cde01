import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { z } from 'zod';
import { asStorageError, InputError, QUALITY_LEVELS, type QualityLevel } from '../core/index.ts';

/** What somebody's file says about one image. */
export interface TeacherText {
  /** Id or file name of the image, as the file writes it. */
  image: string;
  id: string | undefined;
  text: string;
  /** A last word of judgement from the list bad, poor, fair, good, excellent. */
  grade?: QualityLevel;
  /** A score in [1, 5]. */
  score?: number;
}

const turnSchema = z.looseObject({
  from: z.string().optional(),
  role: z.string().optional(),
  value: z.unknown().optional(),
  content: z.unknown().optional(),
});

const rowSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  image: z.union([z.string(), z.array(z.string())]).optional(),
  images: z.array(z.string()).optional(),
  img_path: z.string().optional(),
  conversations: z.array(turnSchema).optional(),
  messages: z.array(turnSchema).optional(),
  text: z.string().optional(),
  response: z.string().optional(),
  description: z.string().optional(),
  caption: z.string().optional(),
  answer: z.string().optional(),
  score: z.number().optional(),
  grade: z.string().optional(),
});

const ANSWERING = new Set(['gpt', 'assistant', 'model', 'chatbot']);
const LEVEL_ALONE = new RegExp(`^\\W*(${QUALITY_LEVELS.join('|')})\\W*$`, 'i');

const gradeIn = (text: string): QualityLevel | undefined =>
  LEVEL_ALONE.exec(text)?.[1]?.toLowerCase() as QualityLevel | undefined;

const contentOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : ''))
    .join('');
};

function textOfRow(row: z.infer<typeof rowSchema>, place: string): TeacherText {
  const said = (row.conversations ?? row.messages ?? [])
    .filter(({ from, role }) => ANSWERING.has((from ?? role ?? '').toLowerCase()))
    .map(({ value, content }) => contentOf(value ?? content).trim());
  const plain = row.response ?? row.text ?? row.description ?? row.caption ?? row.answer;
  const graded = said.map(gradeIn).find((grade) => grade !== undefined) ?? gradeIn(row.grade ?? '');
  const text = plain ?? said.filter((turn) => gradeIn(turn) === undefined).join(' ');
  const image = row.images?.[0] ?? (Array.isArray(row.image) ? row.image[0] : row.image) ?? row.img_path;
  const id = row.id === undefined ? undefined : String(row.id);
  if (image === undefined && id === undefined) {
    throw new InputError(`${place} names neither an image nor an id`, {
      hint: 'each row needs "image" or "id", and conversations, messages, response, text or description',
    });
  }
  if (text.trim() === '') {
    throw new InputError(`${place} has no text of a teacher`, {
      hint: 'a row holds conversations or messages with an answer, or response, text, description or caption',
    });
  }
  return {
    image: image ?? id!,
    id,
    text: text.trim(),
    ...(graded === undefined ? {} : { grade: graded }),
    ...(row.score === undefined ? {} : { score: row.score }),
  };
}

/** JSON (one array) or JSON Lines, told apart by the first character, whatever the file is called. */
function rowsOf(content: string, file: string): { value: unknown; place: string }[] {
  const parse = (text: string, place: string): unknown => {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new InputError(`${place} is not JSON: ${(error as Error).message}`, {
        hint: 'teacher texts are JSON arrays, JSON Lines, or <image name>.txt files',
      });
    }
  };
  if (content.trimStart().startsWith('[')) {
    const rows = parse(content, file) as unknown[];
    return rows.map((value, i) => ({ value, place: `${file}, row ${i + 1}` }));
  }
  return content.split('\n').flatMap((line, i) => {
    const place = `${file}:${i + 1}`;
    return line.trim() === '' ? [] : [{ value: parse(line, place), place }];
  });
}

async function readOne(file: string): Promise<TeacherText[]> {
  const content = await readFile(file, 'utf8');
  if (extname(file) === '.txt') {
    const image = basename(file, '.txt');
    return content.trim() === '' ? [] : [{ image, id: image, text: content.trim() }];
  }
  return rowsOf(content, file).map(({ value, place }) => {
    const parsed = rowSchema.safeParse(value);
    if (parsed.success) return textOfRow(parsed.data, place);
    const { path, message } = parsed.error.issues[0]!;
    throw new InputError(`${place}: ${path.join('.') || '(row)'}: ${message}`);
  });
}

/**
 * Reads existing teacher texts: ShareGPT and LLaVA conversations (`from`/`value`), chat messages (`role`/`content`),
 * flat rows with a text, as a JSON array or JSON Lines; a folder of such files and of `<image name>.txt`.
 */
export async function readTeacherTexts(path: string): Promise<TeacherText[]> {
  try {
    if (!(await stat(path)).isDirectory()) return await readOne(path);
    const names = (await readdir(path)).filter((name) => /\.(?:jsonl?|txt)$/.test(name)).sort();
    const texts: TeacherText[] = [];
    for (const name of names) texts.push(...(await readOne(join(path, name))));
    return texts;
  } catch (error) {
    throw asStorageError(error, `reading teacher texts ${path}`);
  }
}
