import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CorrelateOptions,
  correlateFiles,
  formatCorrelation,
  requireOwnFiles,
} from '../../src/evaluate/index.ts';
import { failureOf, type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

const correlate = (paths: string[], over: Partial<CorrelateOptions> = {}) =>
  correlateFiles({
    ...{ files: paths, predictions: ['score'], target: 'mos', resamples: 0, fit: 'none' },
    ...over,
  });

describe('what would count twice', () => {
  it('one content under two names is refused', async () => {
    const [a, b] = [
      await files.write('score,mos\n1,1\n2,3\n3,2\n'),
      await files.write('score,mos\n1,1\n2,3\n3,2\n'),
    ];
    expect(await failureOf(correlate([a, b]))).toContain('INPUT');
    expect(await failureOf(correlate([a, b]))).toContain(
      'have the same content: every row would count twice',
    );
  });

  it('a column that usually names the image and repeats is said, all rows counted', async () => {
    const path = await files.write('image,score,mos\na,1,1\nb,2,3\nc,3,2\na,1,1\n');
    const { notices, results } = await correlate([path]);
    expect(results[0]!.overall.n).toBe(4);
    expect(notices[0]).toContain('"image" has 1 value(s) that occurred before: a (lines 2 and 5)');
  });

  it('a column of few values is no name of images', async () => {
    const rows = Array.from({ length: 12 }, (_, i) => `${i % 2 ? 'x' : 'y'},${i},${(i * 7) % 12}`);
    const { notices } = await correlate([await files.write(`name,score,mos\n${rows.join('\n')}\n`)]);
    expect(notices).toEqual([]);
  });

  it('ids that two files share are said', async () => {
    const a = await files.write('image,score,mos\na,1,1\nb,2,3\nc,3,2\n', 'left.csv');
    const b = await files.write('image,score,mos\nc,1,1\nd,2,3\ne,3,2\n', 'right.csv');
    const { notices } = await correlate([a, b], { id: 'image' });
    expect(notices[0]).toBe(
      `${a} and ${b} share 1 value(s) of "image": if these are the same images, each counts twice`,
    );
  });
});

describe('a column compared with itself', () => {
  const table = 'score,mos\n1,1\n2,3\n3,2\n4,4\n';
  it('as target', async () =>
    expect(await failureOf(correlate([await files.write(table)], { predictions: ['mos'] }))).toContain(
      'CONFIG: "mos" is given both as prediction and as target',
    ));
  it('as two predictions', async () =>
    expect(
      await failureOf(correlate([await files.write(table)], { predictions: ['score', 'score'] })),
    ).toContain('CONFIG: the column score is given as a prediction more than once'));
});

it('a grouping into single rows is refused', async () => {
  const path = await files.write('image,score,mos\na,1,1\nb,2,3\nc,3,2\nd,4,4\n');
  expect(await failureOf(correlate([path], { by: 'image' }))).toContain(
    '"image" splits 4 rows into 4 groups of at most 1 row(s), at least 3 are needed',
  );
});

it('scores that clearly run backwards: the option is named', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `${i},${20 - i + (i % 3)}`);
  const path = await files.write(`score,mos\n${rows.join('\n')}\n`);
  const { notices } = await correlate([path], { resamples: 200 });
  expect(notices[0]).toContain('if the subjective scores are DMOS, give --lower-better');
});

it('control characters of a cell do not reach the terminal', async () => {
  const rows = [1, 2, 3, 4].map((i) => `"\u001b[31mred\nline",${i},${i}`);
  const path = await files.write(`kind,score,mos\n${rows.join('\n')}\n`);
  const lines = formatCorrelation(await correlate([path], { by: 'kind' })).split('\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(lines.filter((line) => /[\u0000-\u001f]/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith(' [31mred line'))).toHaveLength(1);
});

describe('results', () => {
  it('do not overwrite an input, by whatever path', async () => {
    const path = await files.write('score,mos\n1,1\n', 'input.csv');
    const other = join(files.folder, '..', files.folder.split('/').at(-1)!, 'input.csv');
    expect(await failureOf(requireOwnFiles([path], { csv: other }))).toContain(
      `CONFIG: --csv ${other} would overwrite the input ${path}`,
    );
  });
  it('do not overwrite each other', async () =>
    expect(await failureOf(requireOwnFiles([], { json: 'new.out', csv: './new.out' }))).toContain(
      'would overwrite the result of --json',
    ));
});
