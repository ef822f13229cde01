import { defineStageCommand } from '../stage-command.ts';

export const planCommand = defineStageCommand({
  path: ['plan'],
  summary: 'memory, work and time that a stage would take with a model, from its config.json alone',
  offers: [],
  shortcuts: [
    { flags: '--model <folder>', key: 'model', description: 'model folder; weights are not needed' },
    { flags: '--stage <name>', key: 'stage', description: 'cold-start, grpo (default) or score' },
    { flags: '--device <name>', key: 'device', description: 'cpu (default), rtx-4090, a100-80gb, h100, ...' },
    { flags: '--json', key: 'json', description: 'print everything as JSON', parse: () => true },
  ],
  load: async () => (await import('../stages/plan.ts')).planCommandStage,
});
