import { defineStageCommand } from '../stage-command.ts';

export const dataImportCommand = defineStageCommand({
  path: ['data', 'import'],
  summary: 'bring a table of images and scores into the data set format',
  offers: [],
  shortcuts: [
    { flags: '[csv]', key: 'csv', description: 'table with a header row, one image a row' },
    { flags: '--images <folder>', key: 'imagesFolder', description: 'folder the file names are relative to' },
    { flags: '--image-column <name>', key: 'imageColumn', description: 'column with the file name' },
    { flags: '--mos-column <name>', key: 'mosColumn', description: 'column with the mean opinion score' },
    { flags: '--out <folder>', key: 'output', description: 'folder to write the data set to' },
  ],
  load: async () => (await import('../stages/data-import.ts')).dataImportStage,
});
