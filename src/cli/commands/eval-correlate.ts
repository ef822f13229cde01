import { defineStageCommand } from '../stage-command.ts';

export const evalCorrelateCommand = defineStageCommand({
  path: ['eval', 'correlate'],
  summary: 'SRCC, PLCC and KRCC of two columns of any CSV file',
  offers: [],
  shortcuts: [
    { flags: '[csv]', key: 'path', description: 'CSV file with a header line' },
    { flags: '--pred <column>', key: 'prediction', description: 'column of predicted scores' },
    { flags: '--mos <column>', key: 'target', description: 'column of subjective scores' },
    { flags: '--by <column>', key: 'by', description: 'measure each value of this column as well' },
    { flags: '--lower-better', key: 'lowerBetter', description: 'the subjective scores are DMOS-like' },
    { flags: '--json <file>', key: 'json', description: 'write the report as JSON too' },
  ],
  load: async () => (await import('../stages/eval-correlate.ts')).evalCorrelateStage,
});
