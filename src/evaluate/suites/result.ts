import { join } from 'node:path';
import { type Progress, writeFileAtomic } from '../../core/index.ts';
import type { TrainingImages } from '../../formats/index.ts';
import type { LeakageReport } from '../leakage.ts';
import type { Prediction } from '../predictions.ts';
import type { Answerer } from '../run-evaluation.ts';
import type { EvaluationIdentity, Reading } from '../run-identity.ts';
import { type Summary, summarize } from '../summarize.ts';
import type { EvaluationPlan, PartData, PlanEntry } from './plan.ts';

/** A checkpoint or a server to be evaluated; opened when its turn comes, so that one is in memory at a time. */
export interface EvaluatedModel {
  /** Unique; names its folder. */
  label: string;
  /** Folder or address, for the record. */
  source: string;
  /** What a checkpoint has seen; null where that is not known; undefined for a server, of which it never is. */
  trainingImages: TrainingImages | null | undefined;
  /** Instead of the readings' own limit. */
  maxNewTokens?: number;
  open(): Promise<{ answerer: Answerer; close: () => void }>;
}

export interface RunSuiteOptions {
  plan: EvaluationPlan;
  models: readonly EvaluatedModel[];
  /** Folder for everything; null prints alone. */
  output: string | null;
  /** Folder of one result below `output`. */
  folderOf: (model: string, entry: string, reading: string) => string;
  allowLeakage: boolean;
  codeVersion: string;
  /** Recorded in every summary.json. */
  config: object;
  resamples: number;
  seed: number;
  progress: Progress;
  signal?: AbortSignal | undefined;
  /** Called with each result as soon as it is there. */
  onResult: (result: EvaluationResult) => void;
}

export interface EvaluationResult {
  kind: 'model' | 'baseline';
  model: string;
  entry: PlanEntry;
  reading: string;
  predictions: readonly Prediction[];
  summary: Summary;
  /** Images that a server could not be asked about, by reason. */
  failed: Readonly<Record<string, number>>;
  /** What the first of those requests said. */
  firstFailure: string | null;
  /** Where it was written; null without an output folder. */
  folder: string | null;
}

/** What every summary.json says about how its figures came about. */
export interface EvaluationProvenance {
  model: string;
  dataset: string;
  split: string;
  n: number;
  scored: number;
  mode: string;
  direction: 'higher-better';
  scale: readonly [number, number];
  fit: 'logistic4';
  splitSha256: string;
  dataSha256: string;
  prompt: EvaluationIdentity['prompt'] | null;
  promptSha256: string | null;
  /** Null for a server or a baseline. */
  checkpointSha256: string | null;
  modelSha256: string | null;
  sampling: Reading | null;
  codeVersion: string;
  leakage: { status: LeakageReport['status']; checked: number; leaked: number; allowed: boolean };
  failedRequests: Readonly<Record<string, number>>;
  config: object;
}

type PartProvenance = Pick<
  EvaluationProvenance,
  | 'dataset'
  | 'split'
  | 'direction'
  | 'scale'
  | 'fit'
  | 'splitSha256'
  | 'dataSha256'
  | 'codeVersion'
  | 'leakage'
  | 'config'
>;

/** What every result on a part of the data says alike. */
export function provenanceOf(
  { codeVersion, config, allowLeakage }: RunSuiteOptions,
  data: PartData,
  { split }: PlanEntry,
  leakage: LeakageReport,
): PartProvenance {
  const leaked = new Set(leakage.leaks.flatMap(({ ids }) => ids)).size;
  return {
    dataset: data.folder,
    split,
    direction: 'higher-better',
    scale: [1, 5],
    fit: 'logistic4',
    splitSha256: data.identity.splitSha256,
    dataSha256: data.identity.dataSha256,
    codeVersion,
    leakage: { status: leakage.status, checked: leakage.checked, leaked, allowed: allowLeakage },
    config,
  };
}

/** Summarizes a result, writes its summary.json and reports it. */
export async function finish(
  { resamples, seed, onResult }: RunSuiteOptions,
  result: Omit<EvaluationResult, 'summary'> & { provenance: Omit<EvaluationProvenance, 'scored' | 'n'> },
): Promise<EvaluationResult> {
  const { provenance, ...rest } = result;
  const summary = summarize(rest.predictions, { resamples, seed });
  if (rest.folder !== null) {
    const whole: EvaluationProvenance = { ...provenance, n: summary.n, scored: summary.scored };
    await writeFileAtomic(
      join(rest.folder, 'summary.json'),
      `${JSON.stringify({ provenance: whole, summary }, null, 2)}\n`,
    );
  }
  const done: EvaluationResult = { ...rest, summary };
  onResult(done);
  return done;
}
