import { z } from 'zod';
import { ConfigError } from '../../core/index.ts';
import { TEXT_FAMILY_NAMES, textFamily } from '../../env/index.ts';
import {
  environmentServerSettingsSchema,
  type LogEntry,
  startEnvironmentServer,
} from '../../server/index.ts';
import type { Stage } from '../stage-command.ts';

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

export const agentServeEnvConfigSchema = z.strictObject({
  env: z.enum(TEXT_FAMILY_NAMES).describe('environment to serve'),
  allowEveryone: z
    .boolean()
    .default(false)
    .describe('listen on an address that others reach; AgentGym’s clients send no tokens'),
  logRequests: z.boolean().default(false).describe('one JSON line for each request'),
  server: environmentServerSettingsSchema.prefault({}),
});
export type AgentServeEnvConfig = z.infer<typeof agentServeEnvConfigSchema>;

export const agentServeEnvStage: Stage<AgentServeEnvConfig> = {
  schema: agentServeEnvConfigSchema,
  async run({ env, allowEveryone, logRequests, server: settings }, { signal, progress, print }) {
    if (!allowEveryone && !LOOPBACK.has(settings.host)) {
      throw new ConfigError(`the environments would be open to everybody who reaches ${settings.host}`, {
        hint: 'AgentGym’s clients send no tokens: give --set allowEveryone=true behind a gate of your own',
      });
    }
    const log = (entry: LogEntry): void => {
      if (entry.event === 'request' && !logRequests) return;
      progress.note(JSON.stringify({ time: new Date().toISOString(), ...entry }));
    };
    const server = await startEnvironmentServer({ family: textFamily(env), settings, log });
    try {
      print(server.url);
      if (!signal.aborted) {
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      }
    } finally {
      await server.stop();
    }
  },
};
