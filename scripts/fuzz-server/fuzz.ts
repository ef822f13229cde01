import type { Hono } from 'hono';
import { Rng } from '../../src/core/index.ts';
import { mutate } from './mutate.ts';
import { BOUNDARY, seedForms, seedJson, seedPictures } from './seeds.ts';

export interface FuzzInput {
  kind: 'picture' | 'json' | 'form';
  path: string;
  contentType: string;
  body: Buffer;
}

export interface FuzzReport {
  inputs: number;
  /** By kind and HTTP status, for instance "picture 422". */
  counts: Record<string, number>;
  /** Inputs whose reply must never come: a 5xx, no JSON, a stack, none in time. Each can be made again by its number. */
  failures: { number: number; problem: string }[];
}

/** Replies that input can lead to. Anything else is a failure of the server. */
const ALLOWED = new Set([200, 400, 404, 413, 415, 422]);
const REPLY_TIMEOUT_MS = 60_000;

/** Makes the inputs: number n depends on the seed and n alone. */
export async function fuzzInputs(seed: number | string): Promise<(number: number) => FuzzInput> {
  const pictures = await seedPictures();
  const jsons = seedJson(pictures);
  const jsonBodies = jsons.map(({ text }) => Buffer.from(text));
  const forms = seedForms(pictures);
  const formBodies = forms.map(({ body }) => body);
  return (number) => {
    const rng = new Rng(seed).fork('input', number);
    const draw = rng.uniform();
    if (draw < 0.8) {
      const body = mutate(pictures[rng.integer(pictures.length)]!, rng, pictures);
      return { kind: 'picture', path: '/v1/score', contentType: 'application/octet-stream', body };
    }
    if (draw < 0.9) {
      const at = rng.integer(jsons.length);
      const body = mutate(jsonBodies[at]!, rng, jsonBodies);
      return { kind: 'json', path: jsons[at]!.path, contentType: 'application/json', body };
    }
    const at = rng.integer(forms.length);
    const contentType = `multipart/form-data; boundary=${BOUNDARY}`;
    return {
      kind: 'form',
      path: forms[at]!.path,
      contentType,
      body: mutate(formBodies[at]!, rng, formBodies),
    };
  };
}

/** What is wrong with a reply; null for a good one. */
async function problemOf(response: Response): Promise<string | null> {
  const { status } = response;
  const text = await response.text();
  if (!ALLOWED.has(status)) return `HTTP ${status}: ${text.slice(0, 300)}`;
  if (/\n\s+at .*[:(]\d+/.test(text)) return `a stack in the reply: ${text.slice(0, 300)}`;
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return null;
  try {
    const body = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    if (status === 200) return null;
    return typeof body.error?.code === 'string' && typeof body.error.message === 'string'
      ? null
      : `an error without code and message: ${text.slice(0, 300)}`;
  } catch {
    return `no JSON: ${text.slice(0, 300)}`;
  }
}

/** Sends inputs `first` to `first + count - 1` through the app, `atOnce` at a time. */
export async function fuzz(
  app: Pick<Hono, 'request'>,
  options: {
    seed: number | string;
    count: number;
    first?: number;
    atOnce?: number;
    onProgress?: (done: number) => void;
  },
): Promise<FuzzReport> {
  const { seed, count, first = 0, atOnce = 24, onProgress } = options;
  const inputOf = await fuzzInputs(seed);
  const report: FuzzReport = { inputs: 0, counts: {}, failures: [] };
  let next = first;

  async function one(number: number): Promise<void> {
    const { kind, path, contentType, body } = inputOf(number);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no reply in ${REPLY_TIMEOUT_MS} ms`)), REPLY_TIMEOUT_MS);
    });
    try {
      const init = { method: 'POST', headers: { 'content-type': contentType }, body: new Uint8Array(body) };
      const response = await Promise.race([Promise.resolve(app.request(path, init)), tooLate]);
      const key = `${kind} ${response.status}`;
      report.counts[key] = (report.counts[key] ?? 0) + 1;
      const problem = await Promise.race([problemOf(response), tooLate]);
      if (problem !== null) report.failures.push({ number, problem });
    } catch (error) {
      report.failures.push({ number, problem: String(error) });
    } finally {
      clearTimeout(timer);
    }
    report.inputs++;
    onProgress?.(report.inputs);
  }

  async function worker(): Promise<void> {
    while (next < first + count) await one(next++);
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
  return report;
}
