import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { correlations, fitLogistic, krcc, type Metric, plcc, srcc } from '../../src/metrics/index.ts';
import { exactExp, fromHalf, neighbour } from './exact-exp.ts';

// Published predictions with metrics computed independently; kept outside the repository.
const shared = new URL('../../../shared/data/', import.meta.url);
const fsim = new URL('predictions_fsim/', shared);
const qbench = new URL('predictions_qbench/', shared);
const absent = !existsSync(fsim) || !existsSync(qbench);
if (absent) console.log(`skipped: published predictions, because ${shared.pathname} is absent`);

const readJson = <T>(url: URL): T => JSON.parse(readFileSync(url, 'utf8')) as T;

function expectValue(metric: Metric, expected: number, within = 1e-6): void {
  if (metric.status !== 'ok') throw new Error(metric.detail);
  expect(Math.abs(metric.value - expected)).toBeLessThan(within);
}

interface FsimExpectation {
  db: string;
  metric: string;
  srcc: number;
  krcc: number;
  plcc_raw: number;
  logistic4: { plcc: number; rmse: number };
  logistic5: { plcc: number; rmse: number };
}

function readFsim(db: string, metric: string) {
  const rows = readFileSync(new URL(`${db}.csv`, fsim), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').map(Number));
  return {
    scores: rows.map((row) => row[metric === 'FSIM' ? 0 : 1]!),
    targets: rows.map((row) => row[2]!),
    expected: readJson<FsimExpectation[]>(new URL('expected_metrics.json', fsim)).find(
      (row) => row.db === db && row.metric === metric,
    )!,
  };
}

describe.skipIf(absent).each([
  ['FSIM', 'LIVE'],
  ['FSIMc', 'LIVE'],
  ['FSIM', 'CSIQ'],
  ['FSIMc', 'CSIQ'],
  ['FSIM', 'IVC'],
  ['FSIMc', 'IVC'],
] as const)('%s on %s', (metric, db) => {
  it('SRCC, KRCC and raw PLCC', () => {
    const { scores, targets, expected } = readFsim(db, metric);
    expectValue(srcc(scores, targets), expected.srcc);
    expectValue(krcc(scores, targets), expected.krcc);
    expectValue(plcc(scores, targets), expected.plcc_raw);
  });
  it.each(['logistic4', 'logistic5'] as const)('%s PLCC and RMSE', (model) => {
    const { scores, targets, expected } = readFsim(db, metric);
    const fit = fitLogistic(scores, targets, model, { direction: expected.srcc < 0 ? -1 : 1 });
    if (fit.status !== 'ok') throw new Error(fit.detail);
    expect(Math.abs(fit.plcc - expected[model].plcc)).toBeLessThan(1e-4);
    expect(Math.abs(fit.rmse - expected[model].rmse)).toBeLessThan(1e-3);
  });
});

interface Correlations {
  model: string;
  dataset: string;
  srcc: number;
  plcc: number;
  krcc: number;
}

/** Logits of the better and the worse word per image, with targets; one file writes its targets as strings. */
function readQBench(model: string, dataset: string) {
  const find = <T extends Correlations>(rows: T[]): T =>
    rows.find((row) => row.model === model && row.dataset === dataset)!;
  const expected = find(
    readJson<(Correlations & { keys: [string, string] })[]>(new URL('expected_metrics.json', qbench)),
  );
  // Recorded by scripts/reference/record-scipy.py.
  const fixture = readJson<{ logitDifferences: Correlations[] }>(
    new URL('fixtures/scipy.json', import.meta.url),
  );
  const text = readFileSync(new URL(`${model}/${dataset}.json`, qbench), 'utf8');
  const rows = JSON.parse(`[${text.replaceAll('}{', '},{')}]`) as Record<string, number>[];
  return {
    logits: rows.map((row) => [row[expected.keys[0]]!, row[expected.keys[1]]!] as const),
    targets: rows.map((row) => Number(row.gt_score)),
    expected,
    scipy: find(fixture.logitDifferences),
  };
}

/**
 * exp(v / 100) of a half-precision v as the published metrics were computed: by numpy's vectorised exp (AVX-512),
 * which is one step off the correctly rounded value for some v. Recorded by scripts/reference/record-scipy.py.
 */
const numpyRounding = readJson<{ above: number[]; below: number[] }>(
  new URL('fixtures/numpy-exp.json', import.meta.url),
);
const off = new Map<number, 1 | -1>([
  ...numpyRounding.above.map((bits) => [fromHalf(bits), 1] as const),
  ...numpyRounding.below.map((bits) => [fromHalf(bits), -1] as const),
]);
const known = new Map<number, number>();
function numpyExp(v: number): number {
  let value = known.get(v);
  if (value === undefined) {
    const steps = off.get(v);
    value = steps === undefined ? exactExp(v / 100) : neighbour(exactExp(v / 100), steps);
    known.set(v, value);
  }
  return value;
}

const softmax = (logits: (readonly [number, number])[], exp: (logit: number) => number): number[] =>
  logits.map(([better, worse]) => exp(better) / (exp(better) + exp(worse)));

describe.skipIf(absent).each([
  ['clip_vit_l14', 'agi'],
  ['clip_vit_l14', 'koniq'],
  ['clip_vit_l14', 'livec'],
  ['instructblip_t5', 'livec'],
  ['llava_v1.5', 'agi'],
  ['llava_v1.5', 'kadid'],
  ['llava_v1.5', 'koniq'],
  ['llava_v1.5', 'livec'],
  ['llava_v1.5', 'spaq'],
] as const)('%s on %s', (model, dataset) => {
  it('by the difference of the logits, as scipy', () => {
    const { logits, targets, scipy } = readQBench(model, dataset);
    const scores = logits.map(([better, worse]) => better - worse);
    expectValue(srcc(scores, targets), scipy.srcc, 1e-9);
    expectValue(krcc(scores, targets), scipy.krcc, 1e-9);
    expectValue(plcc(scores, targets), scipy.plcc, 1e-9);
  });

  it('by the published softmax at temperature 100, with the exp it was computed with', () => {
    const { logits, targets, expected } = readQBench(model, dataset);
    const all = correlations(softmax(logits, numpyExp), targets);
    expectValue(all.plcc, expected.plcc);
    expectValue(all.srcc, expected.srcc);
    expectValue(all.krcc, expected.krcc);
  });

  it('by the published softmax with any other exp, but for the last bit', () => {
    const { logits, targets, expected } = readQBench(model, dataset);
    const all = correlations(
      softmax(logits, (logit) => Math.exp(logit / 100)),
      targets,
    );
    expectValue(all.plcc, expected.plcc);
    // Half-precision logits make hundreds of near-ties; which of them are ties depends on the last bit of exp.
    expectValue(all.srcc, expected.srcc, 5e-5);
    expectValue(all.krcc, expected.krcc, 5e-5);
  });
});
