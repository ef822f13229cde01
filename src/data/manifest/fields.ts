import { z } from 'zod';
import { type Cells, cellAt, textOf } from '../readers/index.ts';

const regex = z.string().refine(
  (source) => {
    try {
      return new RegExp(source) instanceof RegExp;
    } catch {
      return false;
    }
  },
  { error: 'not a regular expression' },
);

const ruleSchema = z
  .strictObject({
    column: z.string().min(1).optional().describe('name of a column, or path in a JSON row'),
    template: z.string().min(1).optional().describe('text with {column} places; {column:04} pads with zeros'),
    constant: z.union([z.string(), z.number()]).optional(),
    pattern: regex.optional().describe('keeps the group (?<value>...) of what it matches'),
    map: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .optional()
      .describe('value by what was found'),
  })
  .refine(
    ({ column, template, constant }) =>
      [column, template, constant].filter((one) => one !== undefined).length === 1,
    { error: 'give exactly one of column, template and constant' },
  );
export type FieldRule = z.infer<typeof ruleSchema>;

/** How a value is found in a row: a column, a rule, or several rules of which the first that finds one counts. */
export const fieldSchema = z.union([z.string().min(1), ruleSchema, z.array(ruleSchema).min(1)]);
export type Field = z.infer<typeof fieldSchema>;

export { regex as regexSchema };

/** What was found, or why nothing was. */
export type Found = { value: string; problem?: never } | { value?: never; problem: string };

/** Evaluates a field in a row. */
export function findField(field: Field, cells: Cells): Found {
  if (typeof field === 'string') return findRule({ column: field }, cells);
  if (!Array.isArray(field)) return findRule(field, cells);
  const tried = field.map((rule) => findRule(rule, cells));
  return tried.find(({ value }) => value !== undefined) ?? tried[0]!;
}

function findRule(rule: FieldRule, cells: Cells): Found {
  const source = sourceOf(rule, cells);
  if (source.value === undefined) return source;
  let { value } = source;
  if (rule.pattern !== undefined) {
    const matched = new RegExp(rule.pattern, 'is').exec(value)?.groups?.value;
    if (matched === undefined) return { problem: `"${shorten(value)}" does not fit ${rule.pattern}` };
    value = matched;
  }
  if (rule.map === undefined) return { value };
  const mapped = lookUp(rule.map, value);
  return mapped === undefined
    ? { problem: `"${shorten(value)}" is none of ${Object.keys(rule.map).join(', ')}` }
    : { value: String(mapped) };
}

function sourceOf({ column, template, constant }: FieldRule, cells: Cells): Found {
  if (constant !== undefined) return { value: String(constant) };
  if (column !== undefined) {
    const value = textOf(cellAt(cells, column));
    return value === undefined ? { problem: `${column} is empty` } : { value };
  }
  const empty: string[] = [];
  const value = (template ?? '').replace(
    /\{([^{}:]+)(?::(0\d+))?\}/g,
    (_place, name: string, width?: string) => {
      const found = textOf(cellAt(cells, name));
      if (found === undefined) empty.push(name);
      return (found ?? '').padStart(Number(width ?? 0), '0');
    },
  );
  return empty.length > 0 ? { problem: `${empty[0]} is empty` } : { value };
}

/** Exact first, then without case: authors write "JPEG" and "jpeg" of one thing. */
function lookUp(map: Readonly<Record<string, string | number>>, value: string): string | number | undefined {
  if (Object.hasOwn(map, value)) return map[value];
  const key = Object.keys(map).find((name) => name.toLowerCase() === value.toLowerCase());
  return key === undefined ? undefined : map[key];
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** Columns that a field reads, for checks of the header. Names of pattern groups begin with $. */
export function columnsOf(field: Field): string[][] {
  if (typeof field === 'string') return [[field]];
  const rules = Array.isArray(field) ? field : [field];
  return rules.map(({ column, template }) => {
    if (column !== undefined) return [column];
    return [...(template ?? '').matchAll(/\{([^{}:]+)(?::0\d+)?\}/g)].map(([, name]) => name!);
  });
}
