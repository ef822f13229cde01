import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { compareResults, comparisonOptions, namedError } from '../../scoring/index.ts';
import type { ScoredPicture } from '../model-host.ts';
import type { ScoreQuestion } from '../threads/tasks.ts';
import { ApiError, errorBody, toApiError } from './api-error.ts';
import {
  bodyKind,
  type FormField,
  type GivenPicture,
  orRefusal,
  pictureOfField,
  pictureOfText,
  requireSize,
} from './pictures.ts';
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
  pictures: GivenPicture[];
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
  async function fromForm(
    c: Context,
    body: Uint8Array<ArrayBuffer>,
    names: string[],
    check: (form: FormData) => void = () => undefined,
  ): Promise<Question> {
    const form = await parseMultipart(body, c.req.header('content-type') ?? '');
    check(form);
    const fields: FormField[] = [];
    const rest: Record<string, unknown> = { ...c.req.query() };
    for (const name of names) fields.push(...form.getAll(name));
    for (const [name, value] of form.entries()) {
      if (names.includes(name)) continue;
      if (form.getAll(name).length > 1) throw repeated(name);
      rest[name] = value;
    }
    if (fields.length > limits.images) throw tooMany(fields.length, limits.images);
    const pictures: GivenPicture[] = [];
    for (const field of fields) pictures.push(await orRefusal(() => pictureOfField(field, settings)));
    return { pictures, options: given(valid(optionsSchema, rest)) };
  }

  function fromBytes(c: Context, body: Uint8Array<ArrayBuffer>): Question {
    requireSize(body.byteLength, settings);
    return { pictures: [{ bytes: body }], options: fromQuery(c) };
  }

  const ofText = (text: string): Promise<GivenPicture> => orRefusal(() => pictureOfText(text, settings));

  async function one(c: Context, { body }: RequestScope): Promise<Question> {
    const kind = bodyKind(c);
    if (kind === 'bytes') return fromBytes(c, body);
    if (kind === 'multipart') return exactly(1, await fromForm(c, body, ['image']), 'image');
    const { image, ...options } = valid(scoreRequestSchema(limits), parseJson(body));
    return { pictures: [await ofText(image)], options: given({ ...fromQuery(c), ...options }) };
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
    const pictures = await Promise.all(images.map(ofText));
    return { pictures, options: given({ ...fromQuery(c), ...options }) };
  }

  /** The fields `a` and `b`, or two called `image`: two of one of these letters are no pair. */
  function fromPair(c: Context, body: Uint8Array<ArrayBuffer>): Promise<Question> {
    return fromForm(c, body, ['a', 'b', 'image'], (form) => {
      for (const name of ['a', 'b']) if (form.getAll(name).length > 1) throw repeated(name);
      if (form.has('a') !== form.has('b')) throw missing('a and b');
    });
  }

  async function two(c: Context, { body }: RequestScope): Promise<Question> {
    const kind = bodyKind(c);
    if (kind === 'multipart') return exactly(2, await fromPair(c, body), 'a and b');
    if (kind === 'bytes') throw missing('a and b');
    const { a, b, ...options } = valid(compareRequestSchema(limits), parseJson(body));
    return { pictures: [await ofText(a), await ofText(b)], options: given({ ...fromQuery(c), ...options }) };
  }

  const scored = async (
    picture: GivenPicture,
    options: ScoreQuestion,
    signal: AbortSignal,
  ): Promise<ScoredPicture> => {
    if (picture instanceof ApiError) throw picture;
    return service.score(picture, options, signal);
  };

  /** Scores all pictures, each with its own options. The first that cannot be scored is the error, by its name. */
  async function answer(
    questions: readonly { picture: GivenPicture; options: ScoreQuestion; name?: string }[],
    { signal }: RequestScope,
  ): Promise<ScoredPicture[]> {
    const leave = service.enter(questions.length);
    let done = false;
    try {
      const results = await Promise.all(
        questions.map(({ picture, options, name }) =>
          scored(picture, options, signal).catch((error: unknown) => {
            throw name === undefined ? error : named(error, name);
          }),
        ),
      );
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
        const { pictures, options } = await one(c, scope);
        const [result] = await answer([{ picture: pictures[0]!, options }], scope);
        return c.json({ ...result, ...closing(scope, options) });
      }),
    )
    .post('/v1/compare', (c) =>
      withRequest(c, context, async (scope) => {
        const { pictures, options } = await two(c, scope);
        const settled = comparisonOptions(options, service.model.mode);
        const questions = [
          { picture: pictures[0]!, options: settled.a, name: 'picture a' },
          { picture: pictures[1]!, options: settled.b, name: 'picture b' },
        ];
        const [a, b] = (await answer(questions, scope)) as [ScoredPicture, ScoredPicture];
        const compared = compareResults(a, b);
        return c.json({ ...compared, a: shown(a), b: shown(b), ...closing(scope, settled.a) });
      }),
    )
    .post('/v1/score/batch', (c) =>
      withRequest(c, context, async (scope) => {
        const { pictures, options } = await several(c, scope);
        const leave = service.enter(pictures.length);
        try {
          const settled = await Promise.allSettled(
            pictures.map((picture) => scored(picture, options, scope.signal)),
          );
          const results = settled.map((one, index) => batchItem(one, index, service.metrics));
          scope.signal.throwIfAborted();
          const count = settled.filter(({ status }) => status === 'fulfilled').length;
          const failed = settled.length - count;
          return c.json({ results, scored: count, failed, ...closing(scope, options) });
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

/** An error about one of two pictures says about which. */
function named(error: unknown, name: string): unknown {
  if (!(error instanceof ApiError) || error.status >= 500) return namedError(error, name);
  if (error.code === 'CLIENT_CLOSED') return error;
  return new ApiError(error.code, `${name}: ${error.message}`, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
  });
}

const repeated = (name: string): ApiError =>
  new ApiError('BAD_REQUEST', `the field ${name.slice(0, 80)} is given several times`, {
    hint: 'give it once',
  });

const missing = (names: string): ApiError =>
  new ApiError('BAD_REQUEST', `the request lacks ${names}`, { hint: '/docs shows every field' });

const tooMany = (got: number, most: number): ApiError =>
  new ApiError('TOO_LARGE', `the request has ${got} pictures, at most ${most} are taken here`, {
    hint: 'send them in several requests, or to /v1/score/batch',
  });
