import sharp from 'sharp';
import { parse, Error as VEGA_ERROR, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { mean, type RunOutcome } from './summary.ts';

const MEASURES = [
  { name: 'reward/mean', title: 'reward' },
  { name: 'entropy', title: 'entropy, nats' },
  { name: 'gradientNorm', title: 'gradient norm' },
] as const;

/** Steps that a point is the mean of: single steps are noisy. */
const WINDOW = 5;

/** Curves of every run, thin, and their mean over the seeds, thick: one column per measure, one row per condition. */
export async function drawCurves(outcomes: readonly RunOutcome[], path: string): Promise<void> {
  const points = outcomes.flatMap(({ variant, condition, seed, steps }) =>
    MEASURES.flatMap(({ name, title }) =>
      steps.flatMap((_, i) => {
        if ((i + 1) % WINDOW !== 0) return [];
        const values = steps.slice(i + 1 - WINDOW, i + 1).flatMap((row) => row[name] ?? []);
        if (values.length === 0) return [];
        return [{ variant, condition, seed, measure: title, step: i + 1, value: mean(values) }];
      }),
    ),
  );
  const conditions = [...new Set(outcomes.map(({ condition }) => condition))];
  const line = (own: object, encoding: object) => ({
    mark: { type: 'line', ...own },
    encoding: {
      x: { field: 'step', type: 'quantitative', title: 'step' },
      y: { field: 'value', type: 'quantitative', title: null, scale: { zero: false } },
      color: {
        field: 'variant',
        type: 'nominal',
        sort: null,
        legend: { orient: 'top', title: null, labelLimit: 300 },
      },
      ...encoding,
    },
  });
  const spec = {
    background: 'white',
    data: { values: points },
    vconcat: conditions.map((condition) => ({
      hconcat: MEASURES.map(({ title }) => ({
        title: { text: conditions.length > 1 ? `${title}: ${condition}` : title, fontWeight: 'normal' },
        width: 260,
        height: 160,
        transform: [
          {
            filter: {
              and: [
                { field: 'condition', equal: condition },
                { field: 'measure', equal: title },
              ],
            },
          },
        ],
        layer: [
          line({ strokeWidth: 0.7, opacity: 0.45 }, { detail: { field: 'seed' } }),
          line(
            { strokeWidth: 2.2 },
            {
              y: {
                field: 'value',
                aggregate: 'mean',
                type: 'quantitative',
                title: null,
                scale: { zero: false },
              },
            },
          ),
        ],
      })),
    })),
  };
  const view = new View(parse(compile(spec as unknown as TopLevelSpec).spec), {
    renderer: 'none',
    logLevel: VEGA_ERROR,
  });
  try {
    await sharp(Buffer.from(await view.toSVG()), { density: 110 })
      .png({ palette: true })
      .toFile(path);
  } finally {
    view.finalize();
  }
}
