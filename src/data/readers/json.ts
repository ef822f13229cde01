import { asStorageError, InputError } from '../../core/index.ts';
import { cellAt } from './cells.ts';
import type { Cells, LabelRow, TableContent, TableLayout } from './table.ts';
import { readText, textLines } from './text.ts';

const isObject = (value: unknown): value is Cells =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list of objects, at the top of the document or at the path `rows` in it. */
export async function readJson(path: string, { rows: at }: TableLayout): Promise<TableContent> {
  let document: unknown;
  try {
    document = JSON.parse(await readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw asStorageError(error, `reading ${path}`);
    throw new InputError(`${path} is not JSON: ${error.message}`, {
      hint: 'a file with one object per line is JSON Lines: name it .jsonl',
    });
  }
  const list = at === undefined ? document : isObject(document) ? cellAt(document, at) : undefined;
  if (!Array.isArray(list)) {
    throw new InputError(`${path} has no list of rows ${at === undefined ? 'at the top' : `at ${at}`}`, {
      hint: 'a label file is a list of objects, [{...}, ...]; a manifest gives the path of a list inside the document as `rows`',
    });
  }
  return contentOf(list.map((value, i) => rowOf(value, i + 1)));
}

/** One JSON object a line. */
export async function readJsonLines(path: string): Promise<TableContent> {
  const rows: LabelRow[] = [];
  let place = 0;
  try {
    for await (const line of textLines(path)) {
      place++;
      const text = line.trim();
      if (text === '') continue;
      rows.push(parseLine(text, place));
    }
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  return contentOf(rows);
}

function parseLine(text: string, place: number): LabelRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { place, cells: {}, problem: `it is not JSON: ${(error as Error).message}` };
  }
  return rowOf(value, place);
}

const rowOf = (value: unknown, place: number): LabelRow =>
  isObject(value) ? { place, cells: value } : { place, cells: {}, problem: 'it is not a JSON object' };

function contentOf(rows: LabelRow[]): TableContent {
  const columns = new Set<string>();
  for (const { cells } of rows) for (const name of Object.keys(cells)) columns.add(name);
  return { columns: [...columns], rows };
}
