import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RewardValue } from '../../../src/core/index.ts';
import {
  createRewardTerms,
  type RewardGroup,
  type RewardTerms,
  type RewardTermsContext,
} from '../../../src/env/index.ts';

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-test-reward-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function rewardFile(code: string, name = 'reward.mjs'): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, code);
  return path;
}

/** One prompt about an image of MOS 3.25 with these completions. */
export const group = (...texts: string[]): RewardGroup => ({
  id: 'picture-1',
  image: '/pictures/1.png',
  prompt: 'How good is it?',
  target: { dataset: 'd', mos: 3.25 },
  texts,
});

type Settings = Parameters<typeof createRewardTerms>[0];

export async function openTerms(settings: Settings, context: RewardTermsContext = {}): Promise<RewardTerms> {
  const terms = await createRewardTerms(settings, context);
  onTestFinished(() => terms.close());
  return terms;
}

/** The values of the only term for these completions of one prompt. */
export async function valuesOf(
  terms: RewardTerms,
  texts: readonly string[],
  step = 0,
): Promise<RewardValue[]> {
  const { groups } = await terms.score(step, [group(...texts)]);
  const [name] = terms.names;
  return groups.flat().map((reward) => reward.terms[name as string] as RewardValue);
}

/** Terms of one file. */
export async function fileTerms(
  code: string,
  settings: { name?: string; [key: string]: unknown } = {},
  context: RewardTermsContext = {},
): Promise<RewardTerms> {
  const { extension = 'mjs', ...rest } = settings as { extension?: string };
  const path = await rewardFile(code, `reward.${extension}`);
  const term = { kind: 'file', name: 'own', weight: 1, range: [0, 10], path, ...rest };
  return openTerms([term] as Settings, context);
}

export interface Seen {
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, read freely by assertions
  body: any;
  headers: IncomingHttpHeaders;
}
export type Handler = (seen: Seen, response: ServerResponse) => void;

/** A real server on a free port. Request k gets handler k, the ones after the last handler get the last. */
export async function rewardServer(...handlers: Handler[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const handler = handlers[Math.min(seen.length, handlers.length - 1)];
      const request = { body: JSON.parse(Buffer.concat(chunks).toString('utf8')), headers: incoming.headers };
      seen.push(request);
      handler?.(request, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/get_reward`, seen };
}

export const json =
  (value: unknown, status = 200): Handler =>
  (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
