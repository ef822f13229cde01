import { setImmediate } from 'node:timers/promises';
import { Hono } from 'hono';
import { createIqaRubric, IQA_TERMS } from '../../env/index.ts';
import { ApiError, toApiError } from './api-error.ts';
import { type GivenPicture, orRefusal, pictureOfText } from './pictures.ts';
import { parseJson } from './read-body.ts';
import { type RequestScope, type RouteContext, withRequest } from './request-scope.ts';
import { rewardsRequestSchema } from './schemas.ts';
import { valid } from './valid.ts';

/** What other trainers read: `rewards` and `scores`, one for each answer, and means to be logged. */
export interface RewardsReply {
  rewards: (number | null)[];
  /** In [0, 1]. */
  scores: (number | null)[];
  extra_logs: Record<string, number>;
  missing: { index: number; reason: string }[];
}

/** Answers judged before other requests have their turn: milliseconds of work. */
const ANSWERS_IN_A_ROW = 8;

/**
 * POST /v1/rewards, in the form of OpenRLHF's remote reward models: `query`, `prompts` and `labels` in, `rewards`
 * out. Two uses:
 * - `images`: each is scored by the model; for trainers that make or mend pictures.
 * - `query` (or `responses`) with `labels`: answers of the output contract against mean opinion scores, by the
 *   rubric that GRPO trains with here; for trainers of quality judges. No model is asked.
 *
 * What has no reward is null and listed with its reason. Nothing stands in for it.
 */
export function rewardRoutes(context: RouteContext): Hono {
  const schema = rewardsRequestSchema(context.settings.limits);
  return new Hono().post('/v1/rewards', (c) =>
    withRequest(c, context, async (scope) => {
      const request = valid(schema, parseJson(scope.body));
      if (request.images !== undefined) {
        const pictures = await Promise.all(
          request.images.map((text) => orRefusal(() => pictureOfText(text, context.settings))),
        );
        const question = request.mode === undefined ? {} : { mode: request.mode };
        return c.json(await ofPictures(context, pictures, question, request.scale, scope));
      }
      const answers = request.responses ?? request.query;
      if (answers === undefined) {
        throw new ApiError('BAD_REQUEST', 'the request has neither images nor query nor responses', {
          hint: 'send images, or query with labels',
        });
      }
      const prompts = request.responses === undefined ? (request.prompts ?? []) : [];
      return c.json(
        await ofAnswers(
          answers.map((text, i) => answerAlone(text, prompts[i] ?? '')),
          request.labels ?? [],
          scope.signal,
        ),
      );
    }),
  );
}

/**
 * The answer without its prompt before it and the control tokens behind it. Read from the end, token by token: one
 * expression for all of them takes time in the square of the spaces that a stranger sends.
 */
export function answerAlone(query: string, prompt: string): string {
  let answer = (prompt !== '' && query.startsWith(prompt) ? query.slice(prompt.length) : query).trim();
  while (answer.endsWith('|>')) {
    const start = answer.lastIndexOf('<|');
    if (start < 0 || !/^<\|[a-z_]+\|>$/.test(answer.slice(start))) break;
    answer = answer.slice(0, start).trimEnd();
  }
  return answer;
}

/** Rewards of answers against opinion scores, by the default rubric. Others are served between two answers. */
export async function ofAnswers(
  answers: readonly string[],
  labels: readonly number[],
  signal: AbortSignal,
): Promise<RewardsReply> {
  if (labels.length !== answers.length) {
    throw new ApiError('BAD_REQUEST', `there are ${answers.length} answers and ${labels.length} labels`, {
      hint: 'send one mean opinion score in [1, 5] for each answer',
    });
  }
  const rubric = createIqaRubric();
  const scored: ReturnType<typeof rubric.scoreCompletion>[] = [];
  for (const [i, text] of answers.entries()) {
    if (i % ANSWERS_IN_A_ROW === 0) await setImmediate();
    signal.throwIfAborted();
    scored.push(rubric.scoreCompletion(text, { dataset: 'remote', mos: labels[i]! }));
  }
  const missing: RewardsReply['missing'] = [];
  const rewards = scored.map(({ total }, index) => {
    if (total.status === 'ok') return total.value;
    missing.push({ index, reason: total.reason });
    return null;
  });
  const logs: Record<string, number> = {};
  for (const term of IQA_TERMS) {
    const values = scored.flatMap(({ terms }) => {
      const value = terms[term];
      return value?.status === 'ok' ? [value.value] : [];
    });
    if (values.length > 0) logs[term] = values.reduce((sum, value) => sum + value, 0) / values.length;
  }
  const { accuracy, consistency, format } = rubric.config;
  // Without reference distortions that term applies to no answer here.
  const most = accuracy.weight + consistency.level.weight + format.weight;
  return {
    rewards,
    scores: rewards.map((reward) => (reward === null ? null : reward / most)),
    extra_logs: logs,
    missing,
  };
}

async function ofPictures(
  { service }: RouteContext,
  pictures: readonly GivenPicture[],
  question: Parameters<RouteContext['service']['score']>[1],
  scale: 'unit' | 'score',
  { signal }: RequestScope,
): Promise<RewardsReply> {
  const leave = service.enter(pictures.length);
  try {
    const settled = await Promise.allSettled(
      pictures.map(async (picture) => {
        if (picture instanceof ApiError) throw picture;
        return service.score(picture, question, signal);
      }),
    );
    signal.throwIfAborted();
    const missing: RewardsReply['missing'] = [];
    const scores = settled.map((one, index) => {
      if (one.status === 'rejected') {
        const error = toApiError(one.reason);
        if (error.status >= 500) throw one.reason;
        missing.push({ index, reason: error.message });
        return null;
      }
      service.metrics.pictures.inc({ status: one.value.status });
      if (one.value.score === null) missing.push({ index, reason: `the answer is ${one.value.status}` });
      return one.value.score;
    });
    const unit = scores.map((score) => (score === null ? null : (score - 1) / 4));
    const known = scores.filter((score) => score !== null);
    const mean = known.reduce((sum, score) => sum + score, 0) / known.length;
    return {
      rewards: scale === 'unit' ? unit : scores,
      scores: unit,
      extra_logs: known.length === 0 ? {} : { score: mean },
      missing,
    };
  } finally {
    leave({ done: true });
  }
}
