/**
 * Pools several demo runs (one per seed, each with data of its own) into the table of docs/log.md.
 *
 *   npx tsx eval/seeds.ts .q-ponder/seed0 .q-ponder/seed1 .q-ponder/seed2
 *
 * Differences are means over seeds; their interval resamples the images of every seed independently (percentile
 * bootstrap, 1000 resamples), so it covers the choice of images, and of seeds only as far as these seeds do.
 */
import { join } from 'node:path';
import { Rng, readAllJsonl } from '../src/core/index.ts';
import { type Prediction, predictionSchema, type Share, summarize } from '../src/evaluate/index.ts';
import { type Metric, plcc, srcc } from '../src/metrics/index.ts';

const SPLITS = ['test', 'cross'] as const;
const MODES = ['greedy', 'sampled'] as const;
const MODELS = ['Q-Ponder-CI', 'Q-Ponder'] as const;
const RESAMPLES = 1000;

const folders = process.argv.slice(2);
if (folders.length === 0) {
  console.error('usage: npx tsx eval/seeds.ts <demo folder of each seed>');
  process.exit(2);
}

const show = (metric: Metric): string => (metric.status === 'ok' ? metric.value.toFixed(3) : metric.reason);
const rate = ({ rate: value }: Share): string => show(value);

/** The mean over seeds, and each seed's value. */
function perSeed(metrics: readonly Metric[]): string {
  if (metrics.some(({ status }) => status !== 'ok')) return metrics.map(show).join(' / ');
  const values = metrics.flatMap((metric) => (metric.status === 'ok' ? [metric.value] : []));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return `${mean.toFixed(3)} (${values.map((value) => value.toFixed(3)).join(', ')})`;
}

interface Pair {
  mos: number[];
  before: number[];
  after: number[];
}

/** Images that both models scored. */
function pair(before: readonly Prediction[], after: readonly Prediction[]): Pair {
  const scores = new Map(before.map(({ id, score }) => [id, score]));
  const rows = after.flatMap(({ id, score, mos }) => {
    const other = scores.get(id);
    return score === null || other === null || other === undefined ? [] : [{ mos, other, score }];
  });
  return {
    mos: rows.map(({ mos }) => mos),
    before: rows.map(({ other }) => other),
    after: rows.map(({ score }) => score),
  };
}

type Correlation = (scores: number[], targets: number[]) => Metric;

function meanDifference(pairs: readonly Pair[], metric: Correlation): number {
  const differences = pairs.map(({ mos, before, after }) => {
    const [a, b] = [metric(before, mos), metric(after, mos)];
    if (a.status !== 'ok' || b.status !== 'ok') throw new Error('a correlation is undefined');
    return b.value - a.value;
  });
  return differences.reduce((sum, value) => sum + value, 0) / differences.length;
}

function pooled(pairs: readonly Pair[], metric: Correlation): string {
  const rng = new Rng('pooled');
  const samples = Array.from({ length: RESAMPLES }, () =>
    meanDifference(
      pairs.map(({ mos, before, after }) => {
        const chosen = mos.map(() => rng.integer(mos.length));
        const take = (values: number[]): number[] => chosen.map((index) => values[index]!);
        return { mos: take(mos), before: take(before), after: take(after) };
      }),
      metric,
    ),
  ).sort((a, b) => a - b);
  const signed = (value: number): string => `${value >= 0 ? '+' : ''}${value.toFixed(3)}`;
  const at = (share: number): number => samples[Math.round(share * (RESAMPLES - 1))]!;
  return `${signed(meanDifference(pairs, metric))} [${signed(at(0.025))}, ${signed(at(0.975))}]`;
}

console.log(
  '| split, decoding | model | SRCC | PLCC | level fits score | score std | first distortion | format |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const split of SPLITS) {
  for (const mode of MODES) {
    const read = (model: string): Promise<Prediction[][]> =>
      Promise.all(
        folders.map((folder) =>
          readAllJsonl(join(folder, 'predictions', `${model}-${split}-${mode}.jsonl`), predictionSchema),
        ),
      );
    const tables = new Map<string, Prediction[][]>();
    for (const model of MODELS) {
      const seeds = await read(model);
      tables.set(model, seeds);
      const summaries = seeds.map((rows) => summarize(rows, { resamples: 100 }));
      const naming = summaries.map(({ naming: { firstNamed } }) => rate(firstNamed)).join(' / ');
      console.log(
        `| ${split}, ${mode} | ${model} | ${perSeed(summaries.map((s) => s.srcc.value))} | ${perSeed(
          summaries.map((s) => s.plcc.value),
        )} | ${summaries.map((s) => rate(s.consistency.agreeing)).join(' / ')} | ${summaries
          .map((s) => show(s.consistency.scoreStd))
          .join(' / ')} | ${naming} | ${summaries.map((s) => rate(s.format)).join(' / ')} |`,
      );
    }
    const [before, after] = MODELS.map((model) => tables.get(model)!);
    const pairs = before!.map((rows, seed) => pair(rows, after![seed]!));
    console.log(
      `| ${split}, ${mode} | difference | **${pooled(pairs, srcc)}** | **${pooled(pairs, plcc)}** | | | | |`,
    );
  }
}
