import { broken, type Element, ElementReader, MI, type Unpacking, unpack } from './elements.ts';

/** A variable as a list in Matlab's order (columns first): numbers, texts, or null where a cell holds neither. */
export interface MatVariable {
  name: string;
  dimensions: number[];
  values: (number | string | null)[];
}

/** Classes of arrays (table 1-3). */
const CLASS = { cell: 1, char: 4, firstNumeric: 6, lastNumeric: 15 } as const;

const MOST_VALUES = 20_000_000;
/** Cells may hold cells; label files nest once. */
const DEEPEST = 8;

interface Context {
  littleEndian: boolean;
  unpacking: Unpacking;
  file: string;
}

/** Reads a matrix element: numbers, text or cells. Structures, objects and sparse matrices give null. */
export function readMatrix(element: Element, context: Context, depth = 0): MatVariable | null {
  const { littleEndian, file } = context;
  if (depth > DEEPEST) throw broken(file, `cells are nested more than ${DEEPEST} deep`);
  if (element.type === MI.compressed) {
    return readMatrix(unpack(element.data, context.unpacking, littleEndian, file), context, depth + 1);
  }
  if (element.type !== MI.matrix)
    throw broken(file, `there is an element of type ${element.type} where a matrix belongs`);
  // An empty cell is a matrix element without content.
  if (element.data.length === 0) return { name: '', dimensions: [0, 0], values: [] };
  const parts = new ElementReader(element.data, littleEndian, file);
  const kind = parts.uint32(parts.next().data, 0) & 0xff;
  const sizes = parts.next().data;
  const dimensions = Array.from({ length: Math.floor(sizes.length / 4) }, (_, i) =>
    parts.uint32(sizes, 4 * i),
  );
  const count = dimensions.reduce((product, size) => product * size, 1);
  if (dimensions.length < 2 || count > MOST_VALUES)
    throw broken(file, `an array has the size ${dimensions.join(' x ')}`);
  const name = parts.next().data.toString('latin1');
  if (kind === CLASS.cell) {
    const values: MatVariable['values'] = [];
    for (let i = 0; i < count; i++) values.push(cellValue(readMatrix(parts.next(), context, depth + 1)));
    return { name, dimensions, values };
  }
  if (kind === CLASS.char) return { name, dimensions, values: textRows(parts.next(), dimensions, context) };
  if (kind < CLASS.firstNumeric || kind > CLASS.lastNumeric) return null;
  const values = numbers(parts.next(), context);
  if (values.length !== count)
    throw broken(file, `${name} has ${values.length} values, its size says ${count}`);
  return { name, dimensions, values };
}

/** A cell of one value is that value; anything else has none. */
const cellValue = (cell: MatVariable | null): number | string | null =>
  cell !== null && cell.values.length === 1 ? cell.values[0]! : null;

/** A character matrix has one text a row, padded with spaces. */
function textRows(element: Element, dimensions: readonly number[], context: Context): string[] {
  const rows = dimensions[0] ?? 0;
  const columns = dimensions.slice(1).reduce((product, size) => product * size, 1);
  const { data } = element;
  let characters: string[];
  if (element.type === MI.utf8 || element.type === MI.int8 || element.type === MI.uint8) {
    characters = [...data.toString(element.type === MI.utf8 ? 'utf8' : 'latin1')];
  } else {
    characters = numbers(element, context).map((code) => String.fromCodePoint(Math.min(code, 0x10ffff)));
  }
  if (characters.length !== rows * columns) {
    throw broken(
      context.file,
      `a text has ${characters.length} characters, its size says ${rows} x ${columns}`,
    );
  }
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => characters[column * rows + row])
      .join('')
      .trimEnd(),
  );
}

type Read = (data: DataView, at: number, littleEndian: boolean) => number;

/** Bytes per value and how to read one, by data type. */
const NUMERIC: Readonly<Record<number, readonly [number, Read]>> = {
  [MI.int8]: [1, (view, at) => view.getInt8(at)],
  [MI.uint8]: [1, (view, at) => view.getUint8(at)],
  [MI.int16]: [2, (view, at, little) => view.getInt16(at, little)],
  [MI.uint16]: [2, (view, at, little) => view.getUint16(at, little)],
  [MI.int32]: [4, (view, at, little) => view.getInt32(at, little)],
  [MI.uint32]: [4, (view, at, little) => view.getUint32(at, little)],
  [MI.single]: [4, (view, at, little) => view.getFloat32(at, little)],
  [MI.double]: [8, (view, at, little) => view.getFloat64(at, little)],
  [MI.int64]: [8, (view, at, little) => Number(view.getBigInt64(at, little))],
  [MI.uint64]: [8, (view, at, little) => Number(view.getBigUint64(at, little))],
  [MI.utf16]: [2, (view, at, little) => view.getUint16(at, little)],
  [MI.utf32]: [4, (view, at, little) => view.getUint32(at, little)],
};

/** Matlab stores small whole numbers in the narrowest type, whatever the class of the array. */
function numbers({ type, data }: Element, { littleEndian, file }: Context): number[] {
  const [size, read] = NUMERIC[type] ?? [];
  if (size === undefined || read === undefined) throw broken(file, `there are no numbers of type ${type}`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: Math.floor(data.length / size) }, (_, i) => read(view, i * size, littleEndian));
}
