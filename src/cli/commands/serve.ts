import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const serveCommand = defineStageCommand({
  path: ['serve'],
  summary: 'serve scores over HTTP, with a page',
  offers: ['threads'],
  shortcuts: [
    { flags: '--model <folder>', key: 'model', description: 'checkpoint folder (default: the demo’s)' },
    { flags: '--host <address>', key: 'server.host', description: 'address to listen on (127.0.0.1)' },
    {
      flags: '--port <n>',
      key: 'server.port',
      description: 'port, 0 for a free one (8000)',
      parse: parseNumber,
    },
    {
      flags: '--workers <n>',
      key: 'server.workers',
      description: 'threads with a model',
      parse: parseNumber,
    },
    { flags: '--tokens <file>', key: 'tokens', description: 'file of bearer tokens, one a line' },
  ],
  load: async () => (await import('../stages/serve.ts')).serveStage,
});
