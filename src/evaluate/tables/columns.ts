import { InputError, listNames } from '../../core/index.ts';
import type { WantedColumns } from './table.ts';

/** Most columns that a hint lists. */
const LISTED = 30;

/**
 * The wanted columns that a file has, each with its position. One that is required and absent, or that occurs
 * twice, is an InputError that lists what there is.
 */
export function locateColumns(
  path: string,
  present: readonly string[],
  { required, optional }: WantedColumns,
  hint?: string,
): Map<string, number> {
  const found = new Map<string, number>();
  const absent: string[] = [];
  for (const name of new Set([...required, ...optional])) {
    const count = present.filter((column) => column === name).length;
    if (count > 1) {
      throw new InputError(`${path} has ${count} columns "${name}"`, {
        hint: 'give every column a name of its own',
      });
    }
    if (count === 1) found.set(name, present.indexOf(name));
    else if (required.includes(name)) absent.push(name);
  }
  if (absent.length > 0) {
    throw new InputError(`${path} has no column ${listNames(absent.map((name) => `"${name}"`))}`, {
      hint: hint ?? `columns found: ${listNames(present, LISTED) || '(none)'}`,
    });
  }
  return found;
}
