export { cellAt, numberOf, textOf } from './cells.ts';
export { formatOfName, readLabelTable } from './read-table.ts';
export {
  type Cells,
  LABEL_FORMATS,
  type LabelFormat,
  type LabelRow,
  type LabelTable,
  type TableLayout,
} from './table.ts';
