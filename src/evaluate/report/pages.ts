import { InputError, type Progress } from '../../core/index.ts';
import { compare } from '../compare.ts';
import type { Prediction } from '../predictions.ts';
import { type Summary, summarize } from '../summarize.ts';
import type { ComparisonReport, Fact, ModelReport, ReportData, SplitReport } from './report-data.ts';
import { type ReportFile, writeReport } from './write-report.ts';

/** What every page has. */
type Frame = Pick<
  ReportData,
  'title' | 'subtitle' | 'createdAt' | 'provenance' | 'picture' | 'warnings' | 'quoted' | 'gallerySize'
>;

/** One model on one data set. */
export interface SuiteResultReport {
  model: string;
  /** The data set, or data set and split. */
  split: string;
  predictions: readonly Prediction[];
  /** Computed where it is not given. */
  summary?: Summary;
  /** What the figures rest on: hashes, prompt, sampling, versions. */
  provenance?: readonly Fact[];
}

export interface SuiteReportData extends Frame {
  /** Any order; models and data sets are shown in the order of their first result. */
  results: readonly SuiteResultReport[];
  /** The model that every other is compared with, on the data sets that both have. */
  baseline?: string;
  /** Seed of bootstrap intervals that are computed here, default 0. */
  seed?: number;
}

export interface ComparisonPageData extends Frame {
  baseline: { name: string; splits: readonly Omit<SuiteResultReport, 'model'>[] };
  candidate: { name: string; splits: readonly Omit<SuiteResultReport, 'model'>[] };
  /** Computed where they are not given. */
  comparisons?: readonly Pick<ComparisonReport, 'split' | 'result'>[];
  significance?: ReportData['significance'];
  /** Seed of bootstrap intervals that are computed here, default 0. */
  seed?: number;
}

/** A page of several models on several data sets, with their mean weighted by images. */
export async function writeSuiteReport(
  path: string,
  { results, baseline, seed = 0, ...frame }: SuiteReportData,
  progress?: Progress,
): Promise<ReportFile> {
  const models = modelsOf(results, seed);
  const comparisons = baseline === undefined ? [] : againstBaseline(models, baseline, seed);
  return writeReport(path, { ...frame, models, comparisons, stages: [], weightedMean: true }, progress);
}

/** A page of what changed from one model to another. */
export async function writeComparisonReport(
  path: string,
  { baseline, candidate, comparisons, significance, seed = 0, ...frame }: ComparisonPageData,
  progress?: Progress,
): Promise<ReportFile> {
  const models = modelsOf(
    [baseline, candidate].flatMap(({ name, splits }) => splits.map((one) => ({ ...one, model: name }))),
    seed,
  );
  const pair = { baseline: baseline.name, candidate: candidate.name };
  return writeReport(
    path,
    {
      ...frame,
      models,
      stages: [],
      comparisons:
        comparisons?.map((one) => ({ ...one, ...pair })) ?? againstBaseline(models, baseline.name, seed),
      ...(significance === undefined ? {} : { significance }),
    },
    progress,
  );
}

function modelsOf(results: readonly SuiteResultReport[], seed: number): ModelReport[] {
  const models = new Map<string, SplitReport[]>();
  for (const { model, split, predictions, summary, provenance } of results) {
    const splits = models.get(model) ?? [];
    models.set(model, splits);
    splits.push({
      split,
      predictions,
      summary: summary ?? summarize(predictions, { seed }),
      ...(provenance === undefined ? {} : { provenance }),
    });
  }
  return [...models].map(([name, splits]) => ({ name, splits }));
}

/** Every other model against one, on each split that both have. */
export function againstBaseline(
  models: readonly ModelReport[],
  baseline: string,
  seed: number,
): ComparisonReport[] {
  const base = models.find(({ name }) => name === baseline);
  if (base === undefined) {
    throw new InputError(`the baseline ${baseline} is none of the models`, {
      hint: `name one of ${models.map(({ name }) => name).join(', ')}`,
    });
  }
  return models.flatMap(({ name, splits }) =>
    name === baseline
      ? []
      : splits.flatMap(({ split, predictions }) => {
          const other = base.splits.find((one) => one.split === split);
          if (other === undefined) return [];
          const result = compare(other.predictions, predictions, { seed });
          return [{ split, baseline, candidate: name, result }];
        }),
  );
}
