import { readFile, stat } from 'node:fs/promises';
import { asStorageError, InputError } from '../../../core/index.ts';
import type { TableContent } from '../table.ts';
import { type MatVariable, readMatrix } from './arrays.ts';
import { broken, ElementReader, LARGEST_UNPACKED } from './elements.ts';

const HEADER_BYTES = 128;

/**
 * The vectors of a Matlab file (level 5: versions 5 to 7, compressed or not) as columns of their names; the longest
 * vectors are taken, as label files have one entry an image. Numbers, text and cells of either are read, other
 * classes are left out. Sizes are checked against the bytes that are there before they are used.
 */
export async function readMat(path: string): Promise<TableContent> {
  const variables = matVariables(await bytesOf(path), path);
  const vectors = variables.filter(({ dimensions }) => dimensions.filter((size) => size > 1).length <= 1);
  const length = vectors.reduce((most, { values }) => Math.max(most, values.length), 0);
  const columns = vectors.filter(({ values }) => values.length === length);
  if (columns.length === 0 || length === 0) {
    throw new InputError(`${path} holds no vector`, {
      hint: `its variables are ${variables.map(({ name, dimensions }) => `${name} (${dimensions.join(' x ')})`).join(', ') || '(none)'}`,
    });
  }
  return {
    columns: columns.map(({ name }) => name),
    rows: Array.from({ length }, (_, i) => ({
      place: i + 1,
      cells: Object.fromEntries(columns.map(({ name, values }) => [name, values[i]!])),
    })),
  };
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    if ((await stat(path)).size > LARGEST_UNPACKED) {
      throw new InputError(`${path} is larger than the ${LARGEST_UNPACKED} bytes allowed of a MAT-file`, {
        hint: 'save the label variables alone, or as CSV',
      });
    }
    return await readFile(path);
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
}

/** The variables of a file's bytes. Anything that is no whole level 5 file is an InputError. */
export function matVariables(bytes: Buffer, name: string): MatVariable[] {
  const text = bytes.toString('latin1', 0, 116);
  if (text.startsWith('MATLAB 7.3') || bytes.toString('latin1', 1, 4) === 'HDF') {
    throw new InputError(`${name} is a MAT-file of version 7.3 (HDF5), which is not supported`, {
      hint: 'load it and save the variables with save(..., "-v7"), or write them as CSV',
    });
  }
  const mark = bytes.toString('latin1', 126, 128);
  if (bytes.length < HEADER_BYTES || (mark !== 'IM' && mark !== 'MI'))
    throw broken(name, 'it has no level 5 header');
  const littleEndian = mark === 'IM';
  const context = { littleEndian, unpacking: { left: LARGEST_UNPACKED }, file: name };
  const reader = new ElementReader(bytes.subarray(HEADER_BYTES), littleEndian, name);
  const variables: MatVariable[] = [];
  while (!reader.done) {
    const variable = readMatrix(reader.next(), context);
    if (variable !== null && variable.name !== '') variables.push(variable);
  }
  return variables;
}
