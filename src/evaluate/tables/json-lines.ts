import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { asStorageError, InputError } from '../../core/index.ts';
import { locateColumns } from './columns.ts';
import type { BrokenRow, TableContent, WantedColumns } from './table.ts';

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads fields of a JSON Lines file: one object per line. A field that a row lacks is null there. */
export async function readJsonLines(path: string, wanted: WantedColumns): Promise<TableContent> {
  const names = [...new Set([...wanted.required, ...wanted.optional])];
  const lists = names.map((): unknown[] => []);
  const places: number[] = [];
  const broken: BrokenRow[] = [];
  const columns = new Set<string>();
  const lines = createInterface({
    input: createReadStream(path, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let place = 0;
  try {
    for await (const line of lines) {
      place++;
      const text = place === 1 ? line.replace(/^\uFEFF/, '') : line;
      if (text.trim() === '') continue;
      const row = parseRow(text);
      if (typeof row === 'string') {
        broken.push({ place, problem: row });
        continue;
      }
      for (const name of Object.keys(row)) columns.add(name);
      places.push(place);
      for (const [i, name] of names.entries()) lists[i]!.push(row[name] ?? null);
    }
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  } finally {
    lines.close();
  }
  if (places.length === 0) {
    const [first] = broken;
    throw new InputError(
      first === undefined
        ? `${path} is empty`
        : `${path} holds no JSON object: ${broken.length} line(s) can't be read, the first is line ${first.place} (${first.problem})`,
      {
        hint:
          first !== undefined && first.problem === RUN_TOGETHER
            ? 'write one object per line, for example with jq -c .'
            : 'each line must be one JSON object',
      },
    );
  }
  const found = locateColumns(path, [...columns], wanted);
  const cells = new Map(names.flatMap((name, i) => (found.has(name) ? [[name, lists[i]!] as const] : [])));
  return { columns: [...columns], unit: 'line', places, cells, broken };
}

/** Some publishers write objects one behind the other. */
const RUN_TOGETHER = 'several objects run together';

/** The object on a line, or what is wrong with the line. */
function parseRow(text: string): JsonObject | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Python writes these, and JSON has no such words.
    if (/[:[,]\s*-?(NaN|Infinity)\s*[,}\]]/.test(text)) return 'holds NaN or Infinity, which JSON has not';
    return /\}\s*\{/.test(text) ? RUN_TOGETHER : 'not JSON';
  }
  return isObject(value) ? value : 'not a JSON object';
}
