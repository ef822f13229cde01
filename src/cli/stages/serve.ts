import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { asStorageError, ConfigError } from '../../core/index.ts';
import { type LogEntry, serverSettingsSchema, startServer } from '../../server/index.ts';
import type { Stage } from '../stage-command.ts';
import { defaultModel } from './default-model.ts';

/** Where tokens may stand instead of a file, separated by white space or commas. */
const TOKENS_VARIABLE = 'Q_PONDER_TOKENS';
const SHORTEST_TOKEN = 16;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

export const serveConfigSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('checkpoint folder; the latest demo model if not given'),
  tokens: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(`file of bearer tokens, one a line; else ${TOKENS_VARIABLE} of the environment`),
  allowEveryone: z
    .boolean()
    .default(false)
    .describe('listen on an address that others reach although there are no tokens'),
  logRequests: z.boolean().default(true).describe('one JSON line for each request'),
  server: serverSettingsSchema.prefault({}),
});
export type ServeConfig = z.infer<typeof serveConfigSchema>;

export const serveStage: Stage<ServeConfig> = {
  schema: serveConfigSchema,
  async run(config, { signal, threads, progress, print }) {
    const tokens = await readTokens(config.tokens);
    const settings = threads === undefined ? config.server : { ...config.server, threads };
    if (tokens.length === 0 && !config.allowEveryone && !LOOPBACK.has(settings.host)) {
      throw new ConfigError(`the server would listen on ${settings.host} without any token`, {
        hint: `give --tokens <file> or ${TOKENS_VARIABLE}, or --set allowEveryone=true behind a gate of your own`,
      });
    }
    const model = config.model ?? (await defaultModel());
    const log = (entry: LogEntry): void => {
      if (entry.event === 'request' && !config.logRequests) return;
      progress.note(JSON.stringify({ time: new Date().toISOString(), ...entry }));
    };
    const server = await startServer({ model, settings, tokens, log });
    // A failure is in the log already, and the model in use stays.
    const reload = (): void => void server.reload().catch(() => undefined);
    process.on('SIGHUP', reload);
    try {
      print(server.url);
      if (!signal.aborted) {
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      }
    } finally {
      process.off('SIGHUP', reload);
      await server.stop();
    }
  },
};

/** Tokens of the file, or of the environment. ConfigError for one that could be guessed. */
async function readTokens(file: string | null): Promise<string[]> {
  let text = process.env[TOKENS_VARIABLE] ?? '';
  if (file !== null) {
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      throw asStorageError(error, `reading tokens ${file}`);
    }
  }
  const tokens = text
    .split('\n')
    .map((line) => line.replace(/#.*$/, ''))
    .join(' ')
    .split(/[\s,]+/)
    .filter((token) => token !== '');
  if (tokens.some((token) => token.length < SHORTEST_TOKEN)) {
    throw new ConfigError(`a token has fewer than ${SHORTEST_TOKEN} characters`, {
      hint: 'make one with: openssl rand -hex 32',
    });
  }
  if (file !== null && tokens.length === 0) {
    throw new ConfigError(`${file} holds no token`, { hint: 'write one a line' });
  }
  return tokens;
}
