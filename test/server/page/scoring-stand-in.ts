import { createHash } from 'node:crypto';
import { type ServerType, serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import sharp from 'sharp';
import { levelOfScore } from '../../../src/core/index.ts';
import { type PageOptions, pageRoutes } from '../../../src/server/page/index.ts';

/** What the stand-in does with a request; a test changes it. */
export interface Behaviour {
  /** The streaming endpoint: it writes, breaks off in the middle, or is not there. */
  stream: 'writes' | 'cut' | 'none';
  /** Milliseconds between the pieces of a stream. */
  pause: number;
  /** What a score waits for. */
  gate: Promise<unknown>;
  token: string | null;
  /** Answers to the next requests for a score, first one first. */
  refusals: { status: number; body: string; headers?: Record<string, string> }[];
  /** Replaces members of every result. */
  change: Record<string, unknown>;
}

/** A request as it arrived. */
export interface Arrival {
  path: string;
  authorization: string | null;
  sha256: string | null;
}

/** The reasoning about every picture names its true size and mean: only who decoded it can know them. */
async function judge(bytes: Buffer, change: Behaviour['change']) {
  const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true });
  const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
  const score = 1 + (4 * mean) / 255;
  const reasoning = `a picture of ${info.width} by ${info.height} with moderate soft blur and strong blocking artifacts.`;
  return {
    status: 'ok',
    score,
    level: levelOfScore(score),
    reasoning,
    levelStated: null,
    distortions: [{ type: 'gaussianBlur', level: 3 }, { type: 'jpeg', level: 4 }, { type: 'haze' }],
    wellFormed: true,
    text: `<think>${reasoning}</think><answer>${score.toFixed(2)}</answer>`,
    finishReason: 'stop',
    std: 0.2,
    interval: { low: Math.max(1, score - 0.4), high: Math.min(5, score + 0.4), level: 0.95 },
    ...change,
  };
}

const pauseFor = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A server with the shapes of the scoring service that judges by mean grey instead of by a model. */
export async function startStandIn(options: PageOptions = {}) {
  const behaviour: Behaviour = {
    stream: 'writes',
    pause: 0,
    gate: Promise.resolve(),
    token: null,
    refusals: [],
    change: {},
  };
  const arrivals: Arrival[] = [];
  const note = (context: Context, bytes: Buffer | null) =>
    arrivals.push({
      path: context.req.path,
      authorization: context.req.header('authorization') ?? null,
      sha256: bytes === null ? null : createHash('sha256').update(bytes).digest('hex'),
    });
  const app = new Hono();
  app.route('/', pageRoutes(options));
  app.use('/v1/*', async (context, next) => {
    const refusal = ['/v1/score', '/v1/compare'].includes(context.req.path)
      ? behaviour.refusals.shift()
      : undefined;
    const { token } = behaviour;
    if (refusal !== undefined) {
      note(context, null);
      return new Response(refusal.body, { status: refusal.status, headers: refusal.headers ?? {} });
    }
    if (token !== null && context.req.header('authorization') !== `Bearer ${token}`) {
      note(context, null);
      return context.json({ error: { code: 'UNAUTHORIZED', message: 'no valid token' } }, 401);
    }
    return next();
  });
  app.post('/v1/score', async (context) => {
    const { image } = await context.req.parseBody();
    const bytes = Buffer.from(await (image as File).arrayBuffer());
    note(context, bytes);
    await behaviour.gate;
    try {
      return context.json(await judge(bytes, behaviour.change));
    } catch {
      const error = { code: 'INPUT', message: 'image is not an image that can be read', hint: 'send a JPEG' };
      return context.json({ error }, 422);
    }
  });
  app.post('/v1/compare', async (context) => {
    const form = await context.req.parseBody();
    const [a, b] = await Promise.all(
      [form.a, form.b].map(async (file) => {
        const bytes = Buffer.from(await (file as File).arrayBuffer());
        note(context, bytes);
        return judge(bytes, behaviour.change);
      }),
    );
    const difference = a!.score - b!.score;
    const better = difference === 0 ? 'tie' : difference > 0 ? 'a' : 'b';
    const interval = { low: difference - 0.6, high: difference + 0.5, level: 0.95 };
    return context.json({ better, difference, interval, probability: difference > 0 ? 0.9 : 0.2, a, b });
  });
  app.post('/v1/chat/completions', async (context) => {
    if (behaviour.stream === 'none') return context.json({ error: { message: 'no such endpoint' } }, 404);
    const { messages } = await context.req.json();
    const url: string = messages[0].content[0].image_url.url;
    const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
    note(context, bytes);
    let result: Awaited<ReturnType<typeof judge>>;
    try {
      result = await judge(bytes, behaviour.change);
    } catch {
      return context.json({ error: { message: 'no image' } }, 400);
    }
    return streamSSE(context, async (stream) => {
      for (const [at, piece] of [...result.text.matchAll(/\s*\S{1,7}/g)].entries()) {
        if (behaviour.stream === 'cut' && at === 5) return;
        const choices = [{ index: 0, delta: { content: piece[0] }, finish_reason: null }];
        await stream.writeSSE({ data: JSON.stringify({ object: 'chat.completion.chunk', choices }) });
        await pauseFor(behaviour.pause);
      }
      await stream.writeSSE({ data: '[DONE]' });
    });
  });
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no port');
  return {
    address: `http://127.0.0.1:${address.port}/`,
    behaviour,
    arrivals,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
export type StandIn = Awaited<ReturnType<typeof startStandIn>>;
