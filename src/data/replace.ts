import { readdir } from 'node:fs/promises';
import { asStorageError, ConfigError } from '../core/index.ts';

/** Refuses an output folder that holds anything but an older data set of the same making (told by `marks`). */
export async function checkReplaceable(output: string, marks: readonly string[]): Promise<void> {
  let names: string[];
  try {
    names = await readdir(output);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw asStorageError(error, `writing the data set to ${output}`);
  }
  if (names.length > 0 && !marks.every((mark) => names.includes(mark))) {
    throw new ConfigError(
      `${output} exists and is not a data set made by this command; it will not be replaced`,
      {
        hint: 'choose another output folder',
      },
    );
  }
}
