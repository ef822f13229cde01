import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const agentServeEnvCommand = defineStageCommand({
  path: ['agent', 'serve-env'],
  summary: 'serve an environment over HTTP, as AgentGym’s clients call it',
  offers: [],
  shortcuts: [
    { flags: '--env <name>', key: 'env', description: 'environment: textcraft, maze, wordle and others' },
    { flags: '--host <address>', key: 'server.host', description: 'address to listen on (127.0.0.1)' },
    {
      flags: '--port <n>',
      key: 'server.port',
      description: 'port, 0 for a free one (36001)',
      parse: parseNumber,
    },
  ],
  load: async () => (await import('../stages/agent-serve-env.ts')).agentServeEnvStage,
});
