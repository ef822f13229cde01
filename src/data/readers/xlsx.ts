import { stat } from 'node:fs/promises';
import readXlsxFile from 'read-excel-file/node';
import { asStorageError, InputError } from '../../core/index.ts';
import { nameColumns } from './header.ts';
import type { TableContent, TableLayout } from './table.ts';

/** A workbook is unpacked in memory; the label files of the field are below 2 MB. */
const LARGEST_FILE = 64 * 1024 * 1024;

/** One sheet of an Excel workbook (.xlsx). */
export async function readXlsx(path: string, layout: TableLayout): Promise<TableContent> {
  let sheets: Awaited<ReturnType<typeof readXlsxFile>>;
  try {
    if ((await stat(path)).size > LARGEST_FILE) {
      throw new InputError(`${path} is larger than the ${LARGEST_FILE} bytes allowed of a workbook`, {
        hint: 'save the sheet as CSV',
      });
    }
    sheets = await readXlsxFile(path);
  } catch (error) {
    const known = asStorageError(error, `reading ${path}`);
    if (known !== error || error instanceof InputError) throw known;
    throw new InputError(`${path} can't be read as an Excel workbook: ${(error as Error).message}`, {
      hint: 'an old .xls must be saved as .xlsx, or the sheet as CSV',
      cause: error,
    });
  }
  const found = layout.sheet === undefined ? sheets[0] : sheets.find(({ sheet }) => sheet === layout.sheet);
  if (found === undefined) {
    throw new InputError(`${path} has no sheet ${layout.sheet ?? 'at all'}`, {
      hint: `its sheets are ${sheets.map(({ sheet }) => sheet).join(', ') || '(none)'}`,
    });
  }
  return nameColumns(
    path,
    found.data.map((cells, i) => ({ place: i + 1, cells })),
    layout,
  );
}
