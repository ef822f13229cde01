import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { asStorageError } from '../core/index.ts';
import type { TestOutcome } from '../metrics/index.ts';
import type { ResultsComparison, SplitChange } from './compare-results.ts';
import { probabilityCell } from './correlate-pairs-table.ts';
import type { Prediction } from './predictions.ts';
import type { Result } from './read-predictions.ts';
import { type ComparisonPageData, type ReportData, writeComparisonReport } from './report/index.ts';

export interface ComparisonPageOptions {
  /** Folder of the images; default the data set's folder, as the runs recorded it. */
  images?: string | null;
  codeVersion: string;
  /** ISO 8601. */
  createdAt: string;
}

/** Writes a comparison as a page. `baseline` and `candidate` are the results that `comparison` was made of. */
export async function writeComparisonPage(
  path: string,
  comparison: ResultsComparison,
  baseline: readonly Result[],
  candidate: readonly Result[],
  { images, codeVersion, createdAt }: ComparisonPageOptions,
): Promise<void> {
  const { splits, intervals } = comparison;
  const byPath = new Map([...baseline, ...candidate].map((result) => [result.path, result]));
  const side = (key: 'baseline' | 'candidate'): ComparisonPageData['baseline'] => ({
    name: comparison[key],
    splits: splits.map((change) => ({
      split: change.split,
      predictions: byPath.get(change[key].path)!.predictions,
      provenance: factsOf(change[key].run),
    })),
  });
  await writeComparisonReport(path, {
    title: `${comparison.baseline} and ${comparison.candidate}`,
    subtitle: 'What changed, on the images that both scored',
    createdAt,
    provenance: [
      { label: 'q-ponder', value: codeVersion },
      { label: 'intervals', value: `${intervals.resamples} resamples, seed ${intervals.seed}` },
      ...splits.flatMap((change) =>
        (['baseline', 'candidate'] as const).map((key) => ({
          label: `${change.split}, ${comparison[key]}`,
          value: change[key].path,
        })),
      ),
    ],
    baseline: side('baseline'),
    candidate: side('candidate'),
    comparisons: splits.map((change) => ({ split: change.split, result: change.comparison })),
    significance: splits.flatMap(significanceRows),
    warnings: splits.flatMap((change) => change.notices.map((notice) => `${change.split}: ${notice}`)),
    picture: pictureReader(images ?? null, splits),
    seed: intervals.seed,
  });
}

type Facts = NonNullable<ComparisonPageData['baseline']['splits'][number]['provenance']>;

const factsOf = (run: Result['run']): Facts =>
  Object.entries(run ?? {}).flatMap(([label, value]) =>
    typeof value === 'string' ? [{ label, value }] : [],
  );

/** Reads an image from the folder given, else from the data sets of the runs; absent ones are no pictures. */
function pictureReader(images: string | null, splits: readonly SplitChange[]): ReportData['picture'] {
  const recorded = splits.flatMap(({ baseline, candidate }) =>
    [candidate.run?.dataset, baseline.run?.dataset].filter((folder) => folder != null),
  );
  const folders = images === null ? [...new Set(recorded)] : [images];
  return async ({ image }: Prediction) => {
    for (const path of isAbsolute(image) ? [image] : folders.map((folder) => join(folder, image))) {
      try {
        return await readFile(path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOENT' && code !== 'ENOTDIR') throw asStorageError(error, `reading ${path}`);
      }
    }
    return undefined;
  };
}

function significanceRows({ split, tests }: SplitChange): NonNullable<ReportData['significance']> {
  const ofTest = (test: string, outcome: TestOutcome, level = 0.05) => {
    if (outcome.status !== 'ok') return { split, test, statistic: '-', verdict: outcome.detail };
    const { statistic, degreesOfFreedom, pValue } = outcome;
    const name = degreesOfFreedom === null ? 'z' : `t(${degreesOfFreedom})`;
    const verdict = pValue < level ? `differ, p ${probabilityCell(outcome)}` : 'no clear difference';
    return { split, test, statistic: `${name} = ${statistic.toFixed(2)}`, p: pValue, verdict };
  };
  const { residuals } = tests;
  return [
    ofTest("Steiger's test of the two SRCC", tests.srcc.steiger),
    ofTest("Williams' test of the two PLCC", tests.plcc.williams),
    ...(residuals?.status === 'ok'
      ? [
          {
            split,
            test: "VQEG's F-test of residuals after logistic4",
            statistic: `F(${residuals.degreesOfFreedom}, ${residuals.degreesOfFreedom}) = ${residuals.statistic.toFixed(3)}`,
            p: residuals.pValue,
            verdict:
              residuals.pValue < 0.05 ? `differ, p ${probabilityCell(residuals)}` : 'no clear difference',
          },
        ]
      : []),
  ];
}
