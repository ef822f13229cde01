import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { z } from 'zod';
import { asStorageError, InputError } from './errors.ts';
import { writeFileAtomic } from './files.ts';

/** Reads a JSON Lines file row by row. A bad row is an InputError that names file, line and problem. */
export async function* readJsonl<T>(path: string, schema: z.ZodType<T>): AsyncGenerator<T> {
  const lines = createInterface({
    input: createReadStream(path, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let number = 0;
  try {
    for await (const line of lines) {
      number++;
      if (line.trim() === '') continue;
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch (error) {
        throw new InputError(`${path}:${number} is not JSON: ${(error as Error).message}`, {
          hint: 'each line must be one JSON object; the last line may have been cut by an interrupted write',
        });
      }
      const parsed = schema.safeParse(value);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join('.') || '(row)'}: ${issue.message}`,
        );
        throw new InputError(`${path}:${number} has ${problems.length} problem(s): ${problems.join('; ')}`);
      }
      yield parsed.data;
    }
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  } finally {
    lines.close();
  }
}

export async function readAllJsonl<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of readJsonl(path, schema)) rows.push(row);
  return rows;
}

export async function writeJsonl(path: string, rows: readonly unknown[]): Promise<void> {
  await writeFileAtomic(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
