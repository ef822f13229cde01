import { join } from 'node:path';
import { writeJsonl } from '../../core/index.ts';
import { imagePath } from '../../data/index.ts';
import { imageKey, type TrainingImages } from '../../formats/index.ts';
import {
  type Baseline,
  featuresOf,
  fitBaseline,
  type ImageFeatures,
  predictBaseline,
} from '../baselines/index.ts';
import { findLeaks, type LeakageReport, requireNoLeak } from '../leakage.ts';
import { PREDICTIONS_FILE } from '../run-rows.ts';
import { loadPart, type PartData, type PlanEntry } from './plan.ts';
import { finish, provenanceOf, type RunSuiteOptions } from './result.ts';
import { cellOf, type SuiteRow } from './table.ts';

/** Fits the baselines of a plan on its training images and measures them on every entry. */
export async function baselineRows(
  options: RunSuiteOptions,
  parts: readonly { entry: PlanEntry; data: PartData }[],
): Promise<SuiteRow[]> {
  const { plan, output, folderOf, seed, allowLeakage, progress, signal } = options;
  if (plan.baselines.length === 0) return [];
  if (plan.train === null) {
    progress.note('no baselines: the training images that they are fitted on are not there');
    return [];
  }
  const train = await loadPart(plan.train, options);
  const seen: TrainingImages = {
    format: 1,
    complete: true,
    stages: [
      {
        stage: 'the fit',
        dataset: train.folder,
        use: 'train',
        recordsSha256: train.identity.dataSha256,
        images: train.hashes.map(imageKey),
      },
    ],
  };
  const leaks = new Map<string, LeakageReport>();
  for (const { entry, data } of parts) {
    const report = findLeaks(
      seen,
      data.records.map(({ id }, i) => ({ id, sha256: data.hashes[i]! })),
    );
    requireNoLeak(report, 'a baseline', entry.title, allowLeakage);
    leaks.set(entry.id, report);
  }
  const features = async (data: PartData, label: string): Promise<ImageFeatures[]> => {
    progress.start(`baselines: features of ${label}`, data.records.length);
    const paths = data.records.map((record) => imagePath(data.folder, record));
    const found = await featuresOf(paths, { signal, onDone: (done) => progress.update(done) });
    progress.stop();
    return found;
  };
  const trainFeatures = await features(train, 'the training images');
  const baselines = plan.baselines.map((name) => fitBaseline(name, train.records, trainFeatures, seed));
  const rows = baselines.map(
    ({ name }): SuiteRow => ({ kind: 'baseline', model: name, reading: null, cells: {} }),
  );
  for (const { entry, data } of parts) {
    const known = await features(data, entry.title);
    for (const [i, baseline] of baselines.entries()) {
      const predictions = predictBaseline(baseline, data.records, known);
      const folder = output === null ? null : join(output, folderOf('baselines', entry.id, baseline.name));
      if (folder !== null) await writeJsonl(join(folder, PREDICTIONS_FILE), predictions);
      const result = await finish(options, {
        kind: 'baseline',
        model: baseline.name,
        entry,
        reading: baseline.name,
        predictions,
        failed: {},
        firstFailure: null,
        folder,
        provenance: {
          ...provenanceOf(options, data, entry, leaks.get(entry.id)!),
          ...baselineProvenance(baseline),
        },
      });
      rows[i]!.cells[entry.id] = cellOf(result.summary);
    }
  }
  return rows;
}

const baselineProvenance = ({ name, trainedOn, model }: Baseline) => ({
  model: `baseline ${name}, fitted on ${trainedOn} images, ridge strength ${model.lambda}`,
  mode: 'baseline',
  prompt: null,
  promptSha256: null,
  checkpointSha256: null,
  modelSha256: null,
  sampling: null,
  failedRequests: {},
});
