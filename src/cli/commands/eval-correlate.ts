import { defineStageCommand, parseNumber } from '../stage-command.ts';

/** For an option that may be repeated. */
const collect = (text: string, before: string[] = []): string[] => [...before, text];

export const evalCorrelateCommand = defineStageCommand({
  path: ['eval', 'correlate'],
  summary: 'SRCC, PLCC and KRCC of columns of any CSV, JSON Lines or Parquet file',
  offers: [],
  shortcuts: [
    { flags: '[files...]', key: 'files', description: 'tables with one row per image' },
    {
      flags: '--pred <column>',
      key: 'predictions',
      description: 'column of predicted scores; repeat it to compare several',
      parse: collect,
    },
    { flags: '--mos <column>', key: 'target', description: 'column of subjective scores' },
    { flags: '--by <column>', key: 'by', description: 'measure each value of this column as well' },
    { flags: '--lower-better', key: 'lowerBetter', description: 'the subjective scores are DMOS-like' },
    {
      flags: '--labels <file>',
      key: 'labels',
      description: 'a second table that holds the subjective scores',
    },
    { flags: '--id <column>', key: 'id', description: 'column that identifies the images, to join labels' },
    { flags: '--labels-id <column>', key: 'labelsId', description: 'its name in the labels, if another' },
    { flags: '--fit <model>', key: 'fit', description: 'logistic4 (default), logistic5 or none' },
    { flags: '--delimiter <sign>', key: 'delimiter', description: 'CSV only, default ","' },
    {
      flags: '--resamples <n>',
      key: 'resamples',
      description: 'bootstrap resamples, default 1000; 0 for no intervals',
      parse: parseNumber,
    },
    { flags: '--json <file>', key: 'json', description: 'write everything as JSON too' },
    { flags: '--csv <file>', key: 'csv', description: 'write one line per result too' },
    { flags: '--latex <file>', key: 'latex', description: 'write rows of a LaTeX table too' },
    { flags: '--markdown <file>', key: 'markdown', description: 'write Markdown tables too' },
  ],
  load: async () => (await import('../stages/eval-correlate.ts')).evalCorrelateStage,
});
