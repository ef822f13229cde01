import type { Hono } from 'hono';
import { createApp } from '../../src/server/http/app.ts';
import type { LogEntry } from '../../src/server/http/log-entry.ts';
import { ModelService } from '../../src/server/service.ts';
import { serverSettingsSchema } from '../../src/server/settings.ts';

/** The whole server without its socket: real decoding, real inference, small limits. */
export async function openApp(
  model: string,
  log: (entry: LogEntry) => void,
): Promise<{ app: Hono; close: () => Promise<void> }> {
  const settings = serverSettingsSchema.parse({
    mode: 'expected-direct',
    warmUp: false,
    threads: 1,
    queue: 1000,
    requestTimeoutMs: 120_000,
    limits: { pixels: 6400, newTokens: 8, imageBytes: 200_000, bodyBytes: 500_000 },
  });
  const service = await ModelService.open(model, settings);
  const app = createApp({
    service,
    settings,
    tokens: [],
    promptText: 'Score it.',
    log,
    addressOf: () => 'fuzz',
  });
  return { app, close: () => service.close() };
}
