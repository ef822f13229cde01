import { InputError } from '../core/index.ts';
import { type LabelProblem, PROBLEM_KINDS } from './manifest/labels.ts';

const SHOWN = 5;

/** Counts of problems by kind with the first of each, one line each. */
export function describeProblems(problems: readonly LabelProblem[]): string[] {
  return PROBLEM_KINDS.flatMap((kind) => {
    const same = problems.filter((problem) => problem.kind === kind);
    if (same.length === 0) return [];
    const named = same.slice(0, SHOWN).map(({ place, detail }) => `    ${place}: ${detail}`);
    const more = same.length > SHOWN ? [`    ... and ${same.length - SHOWN} more`] : [];
    return [`  ${kind}: ${same.length}`, ...named, ...more];
  });
}

/** The error of an import with rows that can't be used: all kinds counted, the first of each named. */
export function unusableRows(manifest: string, problems: readonly LabelProblem[], rows: number): InputError {
  return new InputError(
    [`${manifest}: ${problems.length} of ${rows} rows cannot be used:`, ...describeProblems(problems)].join(
      '\n',
    ),
    {
      hint: problems.every(({ kind }) => kind === 'no image file')
        ? 'check --images; for images converted to another format --set anyExtension=true; labels alone: --labels-only; the others alone: --set badRows=skip'
        : 'mend these rows, or import the others with --set badRows=skip',
    },
  );
}
