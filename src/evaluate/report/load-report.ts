import { basename, dirname } from 'node:path';
import { InputError, type Progress, readAllJsonl, silentProgress } from '../../core/index.ts';
import { type Prediction, predictionSchema } from '../predictions.ts';
import { type RunProvenance, readProvenance } from '../read-predictions-provenance.ts';
import { summarize } from '../summarize.ts';
import { type FoundPredictions, type FoundResults, findResults } from './find-results.ts';
import { predictionPictures, rolloutPictures } from './load-pictures.ts';
import { type LoadedStage, loadStage } from './load-stages.ts';
import { againstBaseline } from './pages.ts';
import type { Fact, ModelReport, ReportData, SplitReport } from './report-data.ts';

export interface LoadReportOptions {
  /** Folder that the predictions' image paths are relative to; found by itself where a data set is near. */
  images?: string;
  /** Model that the others are compared with; default the first, where there is more than one. */
  baseline?: string;
  /** Bootstrap resamples, default 1000. */
  resamples?: number;
  /** Seed of the bootstrap, default 0. */
  seed?: number;
  progress?: Progress;
}

/** A file of predictions with what is known of it. */
interface Loaded {
  folder: string;
  found: FoundPredictions;
  rows: Prediction[];
  run: RunProvenance | null;
  model: string;
  mode: string | undefined;
}

/** Everything a page needs, from result folders: training runs, evaluations, suites, demo folders. */
export async function loadReport(
  folders: readonly string[],
  { images, baseline, resamples, seed = 0, progress = silentProgress }: LoadReportOptions = {},
): Promise<Omit<ReportData, 'title' | 'createdAt'>> {
  const found: (FoundResults & { folder: string })[] = [];
  for (const folder of folders) found.push({ folder, ...(await findResults(folder)) });
  const stages: LoadedStage[] = [];
  for (const run of found.flatMap(({ runs }) => runs)) stages.push(await loadStage(run));
  const warnings: string[] = [];
  const loaded: Loaded[] = [];
  const files = found.flatMap(({ folder, predictions }) => predictions.map((file) => ({ folder, file })));
  progress.start('results', files.length);
  for (const { folder, file } of files) {
    loaded.push(await loadPredictions(folder, file, warnings));
    progress.update(loaded.length);
  }
  progress.stop();
  const options = { seed, ...(resamples === undefined ? {} : { resamples }) };
  const models = modelsOf(loaded, options, baseline);
  // The simple predictors of a suite stand first in the table, and are nothing to measure progress from.
  const simple = new Set(loaded.flatMap(({ found: { entry, model } }) => (entry && model) || []));
  const first = models.find(({ name }) => !simple.has(name));
  const base = baseline ?? (models.length > 1 ? first?.name : undefined);
  const quoted = found.flatMap((one) => one.quoted);
  return {
    provenance: folders.map((folder): Fact => ({ label: 'results from', value: folder })),
    stages: stages.sort((a, b) => a.order - b.order).map(({ stage }) => stage),
    models,
    comparisons: base === undefined ? [] : againstBaseline(models, base, seed),
    picture: await predictionPictures(loaded, images),
    rolloutPicture: await rolloutPictures(stages.flatMap(({ dataset }) => dataset ?? [])),
    ...(quoted.length === 0 ? {} : { quoted }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(found.some(({ suite }) => suite) ? { weightedMean: true } : {}),
  };
}

async function loadPredictions(folder: string, found: FoundPredictions, warnings: string[]): Promise<Loaded> {
  const rows = await readAllJsonl(found.path, predictionSchema);
  if (rows.length === 0) {
    throw new InputError(`${found.path} is empty`, {
      hint: 'the evaluation may have been stopped: repeat it',
    });
  }
  // Files that name their model have nothing beside them that could say more.
  const beside = found.mode === undefined ? await readProvenance(found.path, rows.length) : undefined;
  if (beside !== undefined && beside.run !== null) warnings.push(...beside.notices);
  const run = beside?.run ?? null;
  const model = found.model ?? modelName(run?.model ?? folder);
  // The baselines of a suite have no reading.
  const mode = found.mode ?? (found.model === undefined ? run?.sampling?.split(',')[0] : undefined);
  return { folder, found, rows, run, model, mode };
}

/** The name of a run rather than of the folder "model" inside it; of "NAME at ADDRESS", that of the model. */
export function modelName(path: string): string {
  const served = /^(.+) at https?:\/\//.exec(path);
  if (served !== null) return served[1]!;
  const name = basename(path);
  return name === 'model' ? basename(dirname(path)) : name;
}

/** Results by model in the order found, the baseline first. */
function modelsOf(
  loaded: readonly Loaded[],
  options: { seed: number; resamples?: number },
  baseline: string | undefined,
): ModelReport[] {
  const modes = new Set(loaded.flatMap(({ mode }) => mode ?? []));
  const models = new Map<string, SplitReport[]>();
  for (const one of loaded) {
    const folders = new Set(loaded.filter(({ model }) => model === one.model).map(({ folder }) => folder));
    const told = folders.size > 1 ? `${one.model} (${basename(one.folder)})` : one.model;
    // In a suite every reading is a row of its own beside the quoted figures, as in the suite's own table.
    const inSuite = one.found.entry !== undefined && one.mode !== undefined && modes.size > 1;
    const name = inSuite ? `${told}, ${one.mode}` : told;
    const splits = models.get(name) ?? [];
    models.set(name, splits);
    splits.push(...splitReports(one, modes.size > 1, options));
  }
  return [...models]
    .map(([name, splits]) => ({ name, splits: distinct(splits, name) }))
    .sort((a, b) => Number(b.name === baseline) - Number(a.name === baseline));
}

/** One report per data set and split in the rows. A reading is told only where there are several. */
function splitReports(
  { found, rows, run, mode }: Loaded,
  tellMode: boolean,
  options: { seed: number; resamples?: number },
): SplitReport[] {
  const groups = new Map<string, Prediction[]>();
  for (const row of rows) {
    const reading = tellMode && mode !== undefined ? [mode] : [];
    const name = found.entry ?? [row.dataset, row.split, ...reading].join(', ');
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups].map(([split, predictions]) => ({
    split,
    predictions,
    summary: summarize(predictions, options),
    ...(run === null ? {} : { provenance: factsOf(run) }),
  }));
}

const factsOf = (run: RunProvenance): Fact[] =>
  Object.entries(run).flatMap(([label, value]) => (typeof value === 'string' ? [{ label, value }] : []));

function distinct(splits: readonly SplitReport[], model: string): readonly SplitReport[] {
  const names = splits.map(({ split }) => split);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new InputError(`there are two results of ${model} on "${twice}"`, {
      hint: 'name the folder of one of them',
    });
  }
  return splits;
}
