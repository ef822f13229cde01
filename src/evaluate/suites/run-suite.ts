import { join } from 'node:path';
import { ConfigError, type Progress, writeFileAtomic } from '../../core/index.ts';
import { describeLeakage, findLeaks, type LeakageReport, requireNoLeak } from '../leakage.ts';
import { type Answerer, evaluateSplit } from '../run-evaluation.ts';
import { type EvaluationIdentity, type Reading, readingName } from '../run-identity.ts';
import { baselineRows } from './baseline-rows.ts';
import { loadPart, type PartData, type PlanEntry } from './plan.ts';
import {
  type EvaluatedModel,
  type EvaluationResult,
  finish,
  provenanceOf,
  type RunSuiteOptions,
} from './result.ts';
import { cellOf, quotedRows, type SuiteRow, suiteMarkdown, withMeans } from './table.ts';

/** Runs a plan: leakage first, then every model, then the baselines, then the table with the quoted figures. */
export async function runSuite(options: RunSuiteOptions): Promise<SuiteRow[]> {
  const { plan, models, output, progress, signal } = options;
  const parts: { entry: PlanEntry; data: PartData }[] = [];
  for (const entry of plan.entries) parts.push({ entry, data: await loadPart(entry, options) });
  const leaks = checkAllForLeaks(options, parts);
  const rows: SuiteRow[] = [];
  for (const model of models) {
    signal?.throwIfAborted();
    const { answerer, close } = await model.open();
    try {
      const { maxNewTokens } = model;
      for (const given of readingsOf(answerer, plan.readings, model.label, progress)) {
        const reading = maxNewTokens === undefined ? given : { ...given, maxNewTokens };
        const row: SuiteRow = { kind: 'model', model: model.label, reading: readingName(reading), cells: {} };
        for (const { entry, data } of parts) {
          const leakage = leaks.get(model.label)!.get(entry.id)!;
          const result = await evaluateOne(options, model, answerer, reading, entry, data, leakage);
          row.cells[entry.id] = cellOf(result.summary);
        }
        rows.push(row);
      }
    } finally {
      close();
    }
  }
  rows.push(...(await baselineRows(options, parts)), ...quotedRows(plan));
  const table = rows.map((row) => withMeans(row, plan));
  if (output !== null && plan.suite !== null) {
    const record = { suite: plan.suite, title: plan.title, codeVersion: options.codeVersion, rows: table };
    await writeFileAtomic(join(output, 'suite.json'), `${JSON.stringify(record, null, 2)}\n`);
    await writeFileAtomic(join(output, 'suite.md'), suiteMarkdown(table, plan));
  }
  return table;
}

/** Before anything is computed: every model against every entry. */
function checkAllForLeaks(
  { models, allowLeakage, progress }: RunSuiteOptions,
  parts: readonly { entry: PlanEntry; data: PartData }[],
): Map<string, Map<string, LeakageReport>> {
  const reports = new Map<string, Map<string, LeakageReport>>();
  for (const { label, trainingImages } of models) {
    const ofModel = new Map<string, LeakageReport>();
    for (const { entry, data } of parts) {
      const test = data.records.map(({ id }, i) => ({ id, sha256: data.hashes[i]! }));
      const report = findLeaks(trainingImages ?? null, test);
      requireNoLeak(report, label, entry.title, allowLeakage);
      progress.note(
        trainingImages === undefined
          ? `leakage: ${label} is a server; what it was trained on cannot be checked`
          : describeLeakage(report, label, entry.title),
      );
      ofModel.set(entry.id, report);
    }
    reports.set(label, ofModel);
  }
  return reports;
}

/** The readings that a model can give; ConfigError where it can give none. */
function readingsOf(
  answerer: Answerer,
  readings: readonly Reading[],
  label: string,
  progress: Progress,
): Reading[] {
  const possible: Reading[] = [];
  let refusal: ConfigError | undefined;
  for (const reading of readings) {
    try {
      answerer.requireReading(reading);
      possible.push(reading);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      refusal = error;
      progress.note(`${label}: ${error.message}; left out`);
    }
  }
  if (possible.length === 0 && refusal !== undefined) throw refusal;
  return possible;
}

async function evaluateOne(
  options: RunSuiteOptions,
  model: EvaluatedModel,
  answerer: Answerer,
  reading: Reading,
  entry: PlanEntry,
  data: PartData,
  leakage: LeakageReport,
): Promise<EvaluationResult> {
  const { output, folderOf, codeVersion, progress, signal } = options;
  const name = readingName(reading);
  const folder = output === null ? null : join(output, folderOf(model.label, entry.id, name));
  const identity: EvaluationIdentity = { ...answerer.identity, reading, data: data.identity, codeVersion };
  const { predictions, kept, failed, firstFailure } = await evaluateSplit({
    answerer,
    reading,
    records: data.records,
    dataset: data.folder,
    identity,
    folder,
    label: `${model.label}, ${entry.id}, ${name}`,
    progress,
    signal,
  });
  if (kept > 0) progress.note(`${kept} of ${data.records.length} answers were there already`);
  const { prompt } = answerer.identity;
  const checkpoint = identity.model.kind === 'checkpoint' ? identity.model.sha256 : null;
  return finish(options, {
    kind: 'model',
    model: model.label,
    entry,
    reading: name,
    predictions,
    failed,
    firstFailure,
    folder,
    provenance: {
      ...provenanceOf(options, data, entry, leakage),
      model: model.source,
      mode: reading.mode,
      prompt,
      promptSha256: prompt.hash,
      checkpointSha256: checkpoint,
      modelSha256: checkpoint,
      sampling: reading,
      failedRequests: failed,
    },
  });
}
