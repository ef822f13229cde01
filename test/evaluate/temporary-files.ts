import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';

export interface TemporaryFiles {
  folder: string;
  /** Writes a file, under a name of its own if none is given, and returns its path. */
  write(content: string | Uint8Array, name?: string): Promise<string>;
  parquet(
    columns: { name: string; data: unknown[]; type?: 'STRING' | 'DOUBLE' | 'INT64' | 'FLOAT' }[],
  ): Promise<string>;
  remove(): Promise<void>;
}

export async function temporaryFiles(): Promise<TemporaryFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-tables-'));
  let count = 0;
  const write = async (content: string | Uint8Array, name = `${count++}.csv`): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  return {
    folder,
    write,
    parquet: (columns) => {
      const buffer = parquetWriteBuffer({ columnData: columns as never });
      return write(new Uint8Array(buffer), `${count++}.parquet`);
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** The message and hint with which a promise fails. */
export const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: { message: string; hint?: string; code?: string }) =>
      `${error.code}: ${error.message} | ${error.hint}`,
  );
