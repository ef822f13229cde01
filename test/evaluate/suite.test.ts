import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  loadSuite,
  planSuite,
  quotedRows,
  type Suite,
  type SuiteRow,
  shippedSuites,
  suiteMarkdown,
  suiteSchema,
  suiteText,
  withMeans,
} from '../../src/evaluate/index.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'suite-'));
  for (const name of ['one', 'two']) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'records.jsonl'), '');
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

const suite = (over: object = {}): unknown => ({
  name: 'made-up',
  title: 'Made up',
  description: 'for a test',
  readings: [{ mode: 'greedy' }],
  metrics: ['srcc', 'plcc'],
  entries: [
    { id: 'a', title: 'A', dataset: 'one', split: 'test', role: 'in-domain' },
    { id: 'b', title: 'B', dataset: 'missing', split: 'all', role: 'cross-domain', import: 'get it' },
  ],
  quoted: [{ model: 'Other', source: 'a paper', results: { a: { srcc: 0.5 }, b: { plcc: 0.25 } } }],
  ...over,
});

describe('the suites that come with the package', () => {
  it('are these', async () => {
    expect(await shippedSuites()).toEqual(['biq2021', 'cross-domain', 'embedded']);
  });

  it('all keep the schema', async () => {
    for (const name of await shippedSuites()) expect((await loadSuite(name)).name).toBe(name);
  });

  it('cross-domain is the protocol of the field', async () => {
    const { entries, train, quoted } = await loadSuite('cross-domain');
    expect(entries.map(({ id, split }) => `${id} ${split}`)).toEqual([
      'koniq test',
      'spaq all',
      'kadid all',
      'pipal all',
      'livec all',
      'agiqa3k all',
      'csiq all',
      'tid2013 all',
    ]);
    expect(train).toEqual({ dataset: 'koniq', split: 'train' });
    const insight = quoted.find(({ model }) => model === 'Q-Insight score-only');
    expect(insight?.results.csiq).toEqual({ plcc: 0.685, srcc: 0.64 });
  });
});

describe('a suite file', () => {
  it.each<[string, object, string]>([
    ['an unknown key', { metricks: [] }, 'metricks'],
    ['an unknown metric', { metrics: ['auc'] }, 'srcc'],
    [
      'samples of a reading that draws none',
      { readings: [{ mode: 'greedy', samples: 3 }] },
      'belong to mode sampled',
    ],
    [
      'two readings of one name',
      {
        readings: [
          { mode: 'sampled', temperature: 0.5 },
          { mode: 'sampled', temperature: 1 },
        ],
      },
      'two readings are called sampled',
    ],
    [
      'a figure that is no correlation',
      { quoted: [{ model: 'x', source: 'y', results: { a: { srcc: 94 } } }] },
      'quoted.0.results.a.srcc',
    ],
    [
      'a quoted result for no entry',
      { quoted: [{ model: 'x', source: 'y', results: { z: {} } }] },
      'no entry',
    ],
    ['baselines without what to fit them on', { baselines: ['mean'] }, 'give train'],
    [
      'one id twice',
      { entries: Array(2).fill((suite() as Suite).entries[0]), quoted: [] },
      'occurs more than once',
    ],
  ])('%s is refused', async (_what, over, message) => {
    const path = join(root, 'bad.yaml');
    await writeFile(path, JSON.stringify(suite(over)));
    await expect(loadSuite(path)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(message),
    });
  });

  it('that does not exist names those that do', async () => {
    await expect(loadSuite('embeded')).rejects.toMatchObject({
      code: 'CONFIG',
      hint: expect.stringContaining('biq2021, cross-domain, embedded'),
    });
  });
});

describe('finding the data', () => {
  const made = suiteSchema.parse(suite());
  const plan = (over: object, from: Suite = made) =>
    planSuite(from, { root, byName: {}, skipMissing: false, ...over }, [], () => undefined);

  it('a missing data set is named with how to get it', async () => {
    await expect(plan({})).rejects.toMatchObject({
      code: 'CONFIG',
      message: `suite made-up lacks 1 data set(s):\n  missing: no records.jsonl in ${join(root, 'missing')}; get it`,
    });
  });

  it('may be left out, or lie elsewhere', async () => {
    expect((await plan({ skipMissing: true })).entries.map(({ id }) => id)).toEqual(['a']);
    const { entries } = await plan({ byName: { missing: join(root, 'two') } });
    expect(entries.map(({ folder }) => folder)).toEqual([join(root, 'one'), join(root, 'two')]);
  });

  it('all missing is refused even then', async () => {
    await expect(plan({ root: join(root, 'one'), skipMissing: true })).rejects.toThrow('lacks 2 data set(s)');
  });

  it('a name that the suite does not have is refused', async () => {
    await expect(plan({ byName: { three: root } })).rejects.toThrow('has no data set three');
  });

  it('a suite of one data set takes its folder itself', async () => {
    const single = suiteSchema.parse(suite({ entries: [(suite() as Suite).entries[0]], quoted: [] }));
    expect((await plan({ root: join(root, 'two') }, single)).entries[0]!.folder).toBe(join(root, 'two'));
  });
});

describe('the table', () => {
  const made = suiteSchema.parse(suite());
  const plan = {
    ...{ suite: 'made-up', title: 'Made up', readings: [], train: null, baselines: [] },
    entries: made.entries.map(({ id, title, split }) => ({ id, title, split, folder: root })),
    metrics: made.metrics,
    quoted: made.quoted,
  };
  const rows: SuiteRow[] = [
    {
      ...{ kind: 'model', model: 'ours', reading: 'greedy' },
      cells: {
        a: {
          n: 4,
          scored: 3,
          values: { srcc: { status: 'ok', value: 0.1234 }, plcc: { status: 'ok', value: 1 } },
        },
      },
    },
    {
      ...{ kind: 'baseline', model: 'mean', reading: null },
      cells: {
        a: {
          ...{ n: 4, scored: 4 },
          values: {
            srcc: { status: 'undefined-because', reason: 'constant-scores', detail: 'all scores are 3' },
          },
        },
      },
    },
    ...quotedRows(plan),
  ];

  it('holds measured and quoted figures, tells them apart, and says what is missing', () => {
    expect(suiteText(rows, plan).split('\n')).toEqual([
      'Made up',
      '                 a SRCC  a PLCC  b SRCC  b PLCC',
      'ours, greedy      0.123   1.000       -       -',
      'mean (baseline)    none       -       -       -',
      'Other (quoted)    0.500       -       -   0.250',
      'ours, greedy: 1 of 4 answers about a have no score and are left out',
      'mean (baseline), a: all scores are 3',
      'Other (quoted): a paper; not measured here',
    ]);
  });

  it('the same as Markdown', () => {
    expect(suiteMarkdown(rows, plan).split('\n').slice(0, 7)).toEqual([
      '# Made up',
      '',
      '|  | a SRCC | a PLCC | b SRCC | b PLCC |',
      '|---|---:|---:|---:|---:|',
      '| ours, greedy | 0.123 | 1.000 | - | - |',
      '| mean (baseline) | none | - | - | - |',
      '| Other (quoted) | 0.500 | - | - | 0.250 |',
    ]);
  });

  it('means over the entries: plain, by the number of images, by Fisher’s z; none where one is missing', () => {
    const ok = (value: number) => ({ status: 'ok', value }) as const;
    const both = withMeans(
      {
        ...{ kind: 'model', model: 'ours', reading: 'greedy' },
        cells: {
          a: { n: 13, scored: 13, values: { srcc: ok(0.5), plcc: ok(0.4) } },
          b: { n: 33, scored: 33, values: { srcc: ok(0.9) } },
        },
      },
      plan,
    );
    expect(both.means).not.toHaveProperty('plcc');
    const { srcc } = both.means!;
    expect(srcc!.plain).toEqual({ status: 'ok', value: expect.closeTo(0.7, 12) as number });
    expect(srcc!['by-n']).toEqual({
      status: 'ok',
      value: expect.closeTo((13 * 0.5 + 33 * 0.9) / 46, 12) as number,
    });
    const z = (10 * Math.atanh(0.5) + 30 * Math.atanh(0.9)) / 40;
    expect(srcc!['fisher-z']).toEqual({ status: 'ok', value: expect.closeTo(Math.tanh(z), 12) as number });
    const [, , last] = suiteText([both, ...rows.slice(1)], plan).split('\n');
    expect(last!.trim().split(/ {2,}/)).toEqual([
      'ours, greedy',
      '0.500',
      '0.400',
      '0.900',
      '-',
      '0.700',
      '-',
    ]);
  });
});
