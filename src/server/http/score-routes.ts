import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { compareResults } from '../../scoring/index.ts';
import type { ScoredPicture } from '../model-host.ts';
import type { EncodedPicture, ScoreQuestion } from '../threads/tasks.ts';
import { ApiError, errorBody, toApiError } from './api-error.ts';
import { bodyKind, type FormField, pictureOfField, pictureOfText, requireSize } from './pictures.ts';
import { parseJson, parseMultipart } from './read-body.ts';
import { type RequestScope, type RouteContext, withRequest } from './request-scope.ts';
import {
  batchRequestSchema,
  compareRequestSchema,
  scoreOptionsShape,
  scoreRequestSchema,
} from './schemas.ts';
import { valid } from './valid.ts';

/** Pictures of a request with what is asked about them. */
interface Question {
  pictures: EncodedPicture[];
  options: ScoreQuestion;
}

/** Keeps what was given: the engine's defaults hold for the rest. */
const given = (options: object): ScoreQuestion =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ScoreQuestion;

/** POST /v1/score, /v1/score/batch and /v1/compare. */
export function scoreRoutes(context: RouteContext): Hono {
  const { service, settings } = context;
  const { limits } = settings;
  const optionsSchema = z.strictObject(scoreOptionsShape(limits));
  const fromQuery = (c: Context): ScoreQuestion => given(valid(optionsSchema, c.req.query()));

  /** Pictures and options of a form: files or text under any of the names, the rest are options. */
  async function fromForm(c: Context, body: Uint8Array<ArrayBuffer>, names: string[]): Promise<Question> {
    const form = await parseMultipart(body, c.req.header('content-type') ?? '');
    const fields: FormField[] = [];
    const rest: Record<string, unknown> = { ...c.req.query() };
    for (const name of names) fields.push(...form.getAll(name));
    for (const [name, value] of form.entries()) if (!names.includes(name)) rest[name] = value;
    if (fields.length > limits.images) throw tooMany(fields.length, limits.images);
    const pictures: EncodedPicture[] = [];
    for (const field of fields) pictures.push(await pictureOfField(field, settings));
    return { pictures, options: given(valid(optionsSchema, rest)) };
  }

  function fromBytes(c: Context, body: Uint8Array<ArrayBuffer>): Question {
    requireSize(body.byteLength, settings);
    return { pictures: [{ bytes: body }], options: fromQuery(c) };
  }

  const ofText = (text: string): EncodedPicture => pictureOfText(text, settings);

  async function one(c: Context, { body }: RequestScope): Promise<Question> {
    const kind = bodyKind(c);
    if (kind === 'bytes') return fromBytes(c, body);
    if (kind === 'multipart') return exactly(1, await fromForm(c, body, ['image']), 'image');
    const { image, ...options } = valid(scoreRequestSchema(limits), parseJson(body));
    return { pictures: [ofText(image)], options: given({ ...fromQuery(c), ...options }) };
  }

  async function several(c: Context, { body }: RequestScope): Promise<Question> {
    const kind = bodyKind(c);
    if (kind === 'bytes') return fromBytes(c, body);
    if (kind === 'multipart') {
      const question = await fromForm(c, body, ['image', 'images', 'images[]']);
      if (question.pictures.length === 0) throw missing('images');
      return question;
    }
    const { images, ...options } = valid(batchRequestSchema(limits), parseJson(body));
    return { pictures: images.map(ofText), options: given({ ...fromQuery(c), ...options }) };
  }

  async function two(c: Context, { body }: RequestScope): Promise<Question> {
    const kind = bodyKind(c);
    if (kind === 'multipart') return exactly(2, await fromForm(c, body, ['a', 'b', 'image']), 'a and b');
    if (kind === 'bytes') throw missing('a and b');
    const { a, b, ...options } = valid(compareRequestSchema(limits), parseJson(body));
    return { pictures: [ofText(a), ofText(b)], options: given({ ...fromQuery(c), ...options }) };
  }

  async function answer({ pictures, options }: Question, { signal }: RequestScope): Promise<ScoredPicture[]> {
    const leave = service.enter(pictures.length);
    let done = false;
    try {
      const results = await Promise.all(pictures.map((picture) => service.score(picture, options, signal)));
      for (const { status } of results) service.metrics.pictures.inc({ status });
      done = true;
      return results;
    } finally {
      leave({ done });
    }
  }

  const closing = ({ startedAt }: RequestScope, { mode }: ScoreQuestion) => {
    const { modelSha256, prompt, mode: usual } = service.model;
    return {
      provenance: { model: settings.name, modelSha256, prompt, mode: mode ?? usual },
      milliseconds: Math.round((performance.now() - startedAt) * 10) / 10,
    };
  };

  return new Hono()
    .post('/v1/score', (c) =>
      withRequest(c, context, async (scope) => {
        const question = await one(c, scope);
        const [result] = await answer(question, scope);
        return c.json({ ...result, ...closing(scope, question.options) });
      }),
    )
    .post('/v1/compare', (c) =>
      withRequest(c, context, async (scope) => {
        const question = await two(c, scope);
        const options = { ...question.options, distribution: true };
        const [a, b] = (await answer({ ...question, options }, scope)) as [ScoredPicture, ScoredPicture];
        const compared = compareResults(a, b);
        return c.json({ ...compared, a: shown(a), b: shown(b), ...closing(scope, options) });
      }),
    )
    .post('/v1/score/batch', (c) =>
      withRequest(c, context, async (scope) => {
        const { pictures, options } = await several(c, scope);
        const leave = service.enter(pictures.length);
        try {
          const settled = await Promise.allSettled(
            pictures.map((picture) => service.score(picture, options, scope.signal)),
          );
          const results = settled.map((one, index) => batchItem(one, index, service.metrics));
          scope.signal.throwIfAborted();
          const scored = settled.filter(({ status }) => status === 'fulfilled').length;
          const failed = settled.length - scored;
          return c.json({ results, scored, failed, ...closing(scope, options) });
        } finally {
          leave({ done: true });
        }
      }),
    );
}

function batchItem(
  settled: PromiseSettledResult<ScoredPicture>,
  index: number,
  metrics: RouteContext['service']['metrics'],
): object {
  if (settled.status === 'fulfilled') {
    metrics.pictures.inc({ status: settled.value.status });
    return { index, ...settled.value };
  }
  const error = toApiError(settled.reason);
  // One bad picture is the picture's affair; a server that fails says so for the whole request.
  if (error.status >= 500) throw settled.reason;
  metrics.pictures.inc({ status: 'refused' });
  return { index, ...errorBody(error) };
}

/** Without what only the comparison needed. */
function shown({ distribution: _, ...rest }: ScoredPicture): Omit<ScoredPicture, 'distribution'> {
  return rest;
}

function exactly(count: number, question: Question, names: string): Question {
  if (question.pictures.length === count) return question;
  if (question.pictures.length < count) throw missing(names);
  throw tooMany(question.pictures.length, count);
}

const missing = (names: string): ApiError =>
  new ApiError('BAD_REQUEST', `the request lacks ${names}`, { hint: '/docs shows every field' });

const tooMany = (got: number, most: number): ApiError =>
  new ApiError('TOO_LARGE', `the request has ${got} pictures, at most ${most} are taken here`, {
    hint: 'send them in several requests, or to /v1/score/batch',
  });
