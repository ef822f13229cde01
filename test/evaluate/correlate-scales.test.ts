import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { correlateFiles } from '../../src/evaluate/index.ts';
import { type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

/** Numbers spread evenly over a range, in a mixed order. */
const spread = (low: number, high: number, n = 40): number[] =>
  Array.from({ length: n }, (_, i) => low + ((high - low) * ((i * 17) % n)) / (n - 1));

async function notices(scores: number[], mos: number[], dataset?: string[]): Promise<string[]> {
  const rows = scores.map((score, i) => `${score},${mos[i]}${dataset === undefined ? '' : `,${dataset[i]}`}`);
  const path = await files.write(`score,mos${dataset === undefined ? '' : ',dataset'}\n${rows.join('\n')}\n`);
  const report = await correlateFiles({
    ...{ files: [path], predictions: ['score'], target: 'mos', fit: 'none', resamples: 0 },
  });
  return report.notices;
}

describe('a notice of scales', () => {
  it('is given for scores in 0 to 1 beside MOS in 1 to 5', async () => {
    expect(await notices(spread(0.1, 0.9), spread(1, 5))).toEqual([
      '"score" runs from 0.1 to 0.9 and "mos" from 1 to 5: not one scale. SRCC, KRCC and raw PLCC are unaffected; RMSE is on the scale of "mos", after the fit',
    ]);
  });

  it('is given for ranges of one width that do not meet', async () => {
    expect(await notices(spread(10, 14), spread(1, 5))).toEqual([
      expect.stringContaining('"score" runs from 10 to 14 and "mos" from 1 to 5') as string,
    ]);
  });

  it('is not given for predictions that use half of the scale', async () => {
    expect(await notices(spread(2, 4), spread(1, 5))).toEqual([]);
  });

  it('is given for MOS in 0 to 100 in one data set and 1 to 5 in another', async () => {
    const names = [...spread(0, 1).map(() => 'koniq'), ...spread(0, 1).map(() => 'spaq')];
    const found = await notices(spread(1, 5, 80), [...spread(3, 97), ...spread(1, 5)], names);
    expect(found[0]).toBe(
      '"mos" runs from 1 to 5 in spaq (40 rows) and from 3 to 97 in koniq (40 rows): if these are different scales, figures over all rows mix them and only those of each data set count',
    );
  });

  it('is given for MOS in 0 to 100 and 1 to 5 in one column without a name for the parts', async () => {
    const found = await notices(spread(1, 5, 80), [...spread(15, 97), ...spread(1, 5)]);
    expect(found[0]).toContain(
      '"mos" has 40 values from 0 to 5 and 40 above 10, with 0 in between: these look like',
    );
  });

  it('is not given for one scale of 0 to 100 with many references at 0', async () => {
    const dmos = [...spread(1, 99), ...spread(0, 0)];
    expect(await notices(spread(0, 100, 80), dmos)).toEqual([]);
  });

  it('is not given for two data sets of one scale', async () => {
    const names = [...spread(0, 1).map(() => 'a'), ...spread(0, 1).map(() => 'b')];
    expect(await notices(spread(1, 5, 80), [...spread(1.1, 4.3), ...spread(1.8, 4.9)], names)).toEqual([]);
  });
});
