import { defineStageCommand } from '../stage-command.ts';

export const modelInspectCommand = defineStageCommand({
  path: ['model', 'inspect'],
  summary: 'what a model folder holds: configuration, parameters, tokens, image sizes, provenance',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'model', description: 'model folder' },
    { flags: '--json', key: 'json', description: 'print everything as JSON' },
  ],
  load: async () => (await import('../stages/model-inspect.ts')).modelInspectStage,
});
