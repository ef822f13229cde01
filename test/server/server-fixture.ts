import { fileURLToPath } from 'node:url';
import sharp, { type Sharp } from 'sharp';
import { vi } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { type RunningServer, type StartOptions, startServer } from '../../src/server/index.ts';

// Loading TypeScript in threads takes seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The committed base checkpoint: it has learnt to see, not to judge; the readings without words still score. */
export const BASE_MODEL: string = fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url));

export const start = (options: Partial<StartOptions> = {}): Promise<RunningServer> =>
  startServer({
    model: BASE_MODEL,
    ...options,
    settings: { port: 0, mode: 'expected-direct', threads: 1, warmUp: false, ...options.settings },
  });

/** A picture of coloured noise, the same for a seed. */
export function noise(width: number, height: number, seed = 1): Sharp {
  const rng = new Rng(`server ${seed}`);
  const data = Uint8Array.from({ length: width * height * 3 }, () => rng.integer(256));
  return sharp(data, { raw: { width, height, channels: 3 } });
}

export const jpeg = (width = 84, height = 56, seed = 1): Promise<Buffer> =>
  noise(width, height, seed).jpeg().toBuffer();

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: replies are looked into freely
  body: any;
}

/** Sends and reads a reply whose body is JSON. */
export async function send(url: string, init?: RequestInit): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  try {
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  } catch {
    throw new Error(`HTTP ${response.status} without JSON: ${text.slice(0, 200)}`);
  }
}

export const postJson = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

export const postBytes = (
  url: string,
  bytes: Uint8Array,
  type = 'application/octet-stream',
): Promise<Reply> =>
  send(url, { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(bytes) });

/** Names of the fields may repeat. */
export function postForm(
  url: string,
  fields: readonly (readonly [string, string | Uint8Array])[],
): Promise<Reply> {
  const form = new FormData();
  for (const [name, value] of fields) {
    form.append(name, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]));
  }
  return send(url, { method: 'POST', body: form });
}

export const dataUrl = (bytes: Uint8Array, type = 'image/jpeg'): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
