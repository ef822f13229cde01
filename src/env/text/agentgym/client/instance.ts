import { z } from 'zod';
import { Failure } from '../../../../remote/index.ts';
import type { TextObservation } from '../../environment.ts';
import type { AgentGymCounts } from './counts.ts';
import type { Exchange } from './exchange.ts';
import { reasonOf } from './failures.ts';
import type { Limiter } from './limiter.ts';
import type { AgentGymProtocol, JsonObject, Question } from './protocol.ts';

export interface Limits {
  /** Making an instance and beginning a task: some servers start a browser or load data for it. */
  openTimeoutMs: number;
  stepTimeoutMs: number;
  closeTimeoutMs: number;
}

/** One environment on a server, by its id. Every method throws Failures, or the signal's reason. */
export interface Instance {
  /** The first observation of a task. A seed reaches only servers that read `world_seed`; others pass over it. */
  open(task: number, seed: number | undefined): Promise<TextObservation>;
  step(action: string): Promise<TextObservation>;
  ask<T>(question: Question<T>): Promise<T>;
  /** Does not follow the signal: what was opened is closed also after an interruption. */
  close(): Promise<void>;
}

export interface ServerContext {
  protocol: AgentGymProtocol;
  exchange: Exchange;
  limiter: Limiter;
  counts: AgentGymCounts;
  limits: Limits;
  signal: AbortSignal | undefined;
}

/** Statuses that say of an id that it is none, is no longer one, or is not in the state for this. */
const LOST: readonly (number | undefined)[] = [404, 409, 410];
const anything = z.unknown();

/** A server without a way to close has nothing to close; WebArena says "closed" without quotes, which is no JSON. */
const saysNothingIsOpen = ({ status = 0, reason }: Failure): boolean =>
  [404, 405, 410].includes(status) || (status === 200 && reason === 'malformed');

function read<T>(schema: z.ZodType<T>, reply: unknown): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.map(String).join('.') || 'the reply'}: ${message}`);
  throw new Failure('malformed', `the reply is not as the protocol has it (${problems.join('; ')})`, {
    retryable: true,
    said: JSON.stringify(reply),
  });
}

type Call = { method: 'GET' | 'POST'; path: string; body?: JsonObject | null; timeoutMs: number };

/** Sends, and reads the reply. Failures of either kind are counted. */
function sender({ protocol, exchange, limiter, counts }: ServerContext) {
  return <T>(call: Call, reply: z.ZodType<T>, signal: AbortSignal | undefined): Promise<T> =>
    limiter.run(async () => {
      counts.requests++;
      try {
        return read(reply, await exchange({ ...call, path: `${protocol.prefix}${call.path}`, signal }));
      } catch (error) {
        if (error instanceof Failure) counts.failedRequests[reasonOf(error)]++;
        throw error;
      }
    });
}

/** A lost instance is made good by a fresh one, though a status of 404 elsewhere would be final. */
function lostIsRetryable(error: unknown): never {
  if (error instanceof Failure && LOST.includes(error.status)) {
    const { message, status, said } = error;
    throw new Failure('server', `the instance is lost: ${message}`, { retryable: true, status, said });
  }
  throw error;
}

/** Makes an instance on the server. */
export async function createInstance(context: ServerContext): Promise<Instance> {
  const { protocol, counts, limits, signal } = context;
  const { create, reset, opening, step, idField } = protocol;
  const send = sender(context);
  const call = {
    method: 'POST',
    path: '/create',
    body: create.body,
    timeoutMs: limits.openTimeoutMs,
  } as const;
  const id = await send(call, create.reply, signal);
  counts.created++;

  const post = <T>(path: string, body: JsonObject, reply: z.ZodType<T>, timeoutMs: number): Promise<T> =>
    send({ method: 'POST', path, body: { [idField]: id, ...body }, timeoutMs }, reply, signal).catch(
      lostIsRetryable,
    );
  const get = <T>({ path, reply }: Question<T>, timeoutMs: number): Promise<T> =>
    send({ method: 'GET', path: `${path}?${idField}=${id}`, timeoutMs }, reply, signal).catch(
      lostIsRetryable,
    );

  return {
    async open(task, seed) {
      // SearchQA's reset has an `id` of its own: the task's, beside the instance's env_idx.
      const body = { ...reset.body(task), ...(seed === undefined ? {} : { world_seed: seed }) };
      const { text } = await post('/reset', body, reset.reply, limits.openTimeoutMs);
      if (opening === undefined) return { text: text ?? '', reward: 0, done: false };
      const asked = await get(opening, limits.openTimeoutMs);
      return { text: opening.join(text, asked), reward: 0, done: false };
    },
    step: (action) => post('/step', { action: step.action(action) }, step.reply, limits.stepTimeoutMs),
    ask: (question) => get(question, limits.stepTimeoutMs),
    async close() {
      try {
        const timeoutMs = limits.closeTimeoutMs;
        await send(
          { method: 'POST', path: '/close', body: { [idField]: id }, timeoutMs },
          anything,
          undefined,
        );
      } catch (error) {
        if (!(error instanceof Failure && saysNothingIsOpen(error))) throw error;
      }
      counts.closed++;
    },
  };
}
