import type { z } from 'zod';
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
/** A server without a way to close answers so, and has nothing to close. */
const NOTHING_TO_CLOSE: readonly (number | undefined)[] = [404, 405, 410];

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

function sender({ protocol, exchange, limiter, counts }: ServerContext) {
  return (call: Call, signal: AbortSignal | undefined): Promise<unknown> =>
    limiter.run(async () => {
      counts.requests++;
      try {
        return await exchange({ ...call, path: `${protocol.prefix}${call.path}`, signal });
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
  const made = await send(
    { method: 'POST', path: '/create', body: create.body, timeoutMs: limits.openTimeoutMs },
    signal,
  );
  const id = read(create.reply, made);
  counts.created++;

  const post = (path: string, body: JsonObject, timeoutMs: number): Promise<unknown> =>
    send({ method: 'POST', path, body: { [idField]: id, ...body }, timeoutMs }, signal).catch(
      lostIsRetryable,
    );
  const get = (path: string, timeoutMs: number): Promise<unknown> =>
    send({ method: 'GET', path: `${path}?${idField}=${id}`, timeoutMs }, signal).catch(lostIsRetryable);

  return {
    async open(task, seed) {
      // SearchQA's reset has an `id` of its own: the task's, beside the instance's env_idx.
      const body = { ...reset.body(task), ...(seed === undefined ? {} : { world_seed: seed }) };
      const { text } = read(reset.reply, await post('/reset', body, limits.openTimeoutMs));
      if (opening === undefined) return { text: text ?? '', reward: 0, done: false };
      const asked = read(opening.reply, await get(opening.path, limits.openTimeoutMs));
      return { text: opening.join(text, asked), reward: 0, done: false };
    },
    async step(action) {
      return read(step.reply, await post('/step', { action: step.action(action) }, limits.stepTimeoutMs));
    },
    async ask({ path, reply }) {
      return read(reply, await get(path, limits.stepTimeoutMs));
    },
    async close() {
      try {
        const timeoutMs = limits.closeTimeoutMs;
        await send({ method: 'POST', path: '/close', body: { [idField]: id }, timeoutMs }, undefined);
      } catch (error) {
        // WebArena says "closed" without quotes.
        const closed =
          error instanceof Failure && (NOTHING_TO_CLOSE.includes(error.status) || error.status === 200);
        if (!closed) throw error;
      }
      counts.closed++;
    },
  };
}
