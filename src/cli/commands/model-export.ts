import { defineStageCommand } from '../stage-command.ts';

export const modelExportCommand = defineStageCommand({
  path: ['model', 'export'],
  summary: 'write a model as ONNX files with a key-value cache, to run without q-ponder',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'model', description: 'model folder, or an adapter’s, which is merged' },
    { flags: '--out <folder>', key: 'output', description: 'new folder' },
    {
      flags: '--external-data <when>',
      key: 'externalData',
      description:
        'weights in one file beside the ONNX files: always, never or auto (default: from 0.5 GB on)',
    },
    { flags: '--prompt <name>', key: 'prompt', description: 'shipped prompt; default student/quality.v1' },
  ],
  load: async () => (await import('../stages/model-export.ts')).modelExportStage,
});
