import type { Readable, Writable } from 'node:stream';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  comparisonOptions,
  namedError,
  SCORE_MODES,
  type ScoreMode,
  type ScoreOptions,
  type Scorer,
} from '../../scoring/index.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { pictureOf, pictureShape } from './picture-argument.ts';
import { comparisonReply, comparisonShape, errorReply, scoreReply, scoreShape } from './replies.ts';
import { openRoots } from './roots.ts';

export interface McpOptions {
  /** The scorer, or its coming: the client is greeted while the model still loads. */
  scorer: Scorer | Promise<Scorer>;
  /** Folders that pictures may be read from. */
  roots: readonly string[];
  /** Where the client writes to and reads from: nothing else may write to `output`. */
  input: Readable;
  output: Writable;
  version: string;
  /** Where a call does not say. Default `expected`. */
  mode?: ScoreMode;
  /** Encoded bytes of one picture. Default 20 MiB. */
  maxBytes?: number;
  /** Default 96. */
  maxNewTokens?: number;
  signal?: AbortSignal;
  /** Told of defects, of which the client learns no more than that there was one. */
  onDefect?: (error: unknown) => void;
}

const MiB = 1024 * 1024;
/** Answers that `sampled` draws: fewer say nothing about their spread. */
const SAMPLES = 5;

const INSTRUCTIONS =
  'Scores the technical quality of images (blur, noise, compression, exposure, colour) from 1, bad, to 5, excellent, with the reasoning behind it. Not about content, beauty or truth.';

const modeArgument = z
  .enum(SCORE_MODES)
  .optional()
  .describe(
    `How the score is read. expected: finest, with an interval. greedy: the number that the model writes. sampled: mean of ${SAMPLES} answers`,
  );

const naming =
  (name: string) =>
  (error: unknown): never => {
    throw namedError(error, name);
  };

/**
 * Serves score_image and compare_images by the Model Context Protocol over a pair of streams, until the client
 * closes its side.
 *
 * ConfigError for roots that cannot be opened; whatever makes `scorer` fail; the signal's reason on abort.
 */
export async function serveMcp(options: McpOptions): Promise<void> {
  const { mode = 'expected', maxBytes = 20 * MiB, maxNewTokens = 96, onDefect = () => undefined } = options;
  const roots = await openRoots(options.roots);
  // Only who serves this protocol pays for loading it.
  const [{ McpServer }, { StdioServerTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/mcp.js'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
  ]);
  const server = new McpServer(
    { name: 'q-ponder', title: 'q-ponder: image quality', version: options.version },
    { instructions: INSTRUCTIONS },
  );
  const scorer = Promise.resolve(options.scorer);
  const closing = new AbortController();
  const inTurn = oneAtATime();

  const answer = async (
    call: AbortSignal,
    work: (scorer: Scorer, signal: AbortSignal) => Promise<CallToolResult>,
  ): Promise<CallToolResult> => {
    const signal = AbortSignal.any([call, closing.signal]);
    try {
      const loaded = await scorer;
      return await inTurn(() => work(loaded, signal), signal);
    } catch (error) {
      // Nobody waits for the answer to a call that was taken back, and nothing is broken.
      return errorReply(error, signal.aborted ? () => undefined : onDefect);
    }
  };
  const optionsOf = (chosen: ScoreOptions['mode'], signal: AbortSignal): ScoreOptions => ({
    ...(chosen === undefined ? {} : { mode: chosen }),
    maxNewTokens,
    signal,
    ...(chosen === 'sampled' ? { samples: SAMPLES } : {}),
  });
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

  server.registerTool(
    'score_image',
    {
      title: 'Score the quality of an image',
      description: `Scores one image from 1 (bad) to 5 (excellent), with reasoning, named distortions and interval. Give path or data. Readable folders: ${roots.join(', ')}`,
      inputSchema: z.strictObject({ ...pictureShape, mode: modeArgument }),
      outputSchema: scoreShape,
      annotations,
    },
    (given, { signal: call }) =>
      answer(call, async (loaded, signal) => {
        const picture = await pictureOf(given, roots, maxBytes);
        return scoreReply(await loaded.score(picture, optionsOf(given.mode ?? mode, signal)));
      }),
  );
  server.registerTool(
    'compare_images',
    {
      title: 'Compare the quality of two images',
      description: `Scores two images and says which is better, by how much, and how sure the model is. Readable folders: ${roots.join(', ')}`,
      inputSchema: z.strictObject({
        a: z.strictObject(pictureShape).describe('The first image: path or data'),
        b: z.strictObject(pictureShape).describe('The second image: path or data'),
        mode: modeArgument,
      }),
      outputSchema: comparisonShape,
      annotations,
    },
    (given, { signal: call }) =>
      answer(call, async (loaded, signal) => {
        const a = await pictureOf(given.a, roots, maxBytes).catch(naming('picture a'));
        const b = await pictureOf(given.b, roots, maxBytes).catch(naming('picture b'));
        // What the scorer would take by itself knows nothing of the mode that is usual here.
        const { a: settings } = comparisonOptions(given.mode === undefined ? {} : { mode: given.mode }, mode);
        return comparisonReply(await loaded.compare(a, b, optionsOf(settings.mode, signal)));
      }),
  );

  // A message may hold two pictures in base64.
  const transport = new StdioServerTransport(options.input, options.output, {
    maxBufferSize: Math.ceil((2 * maxBytes * 4) / 3) + MiB,
  });
  const ended = new Promise<void>((resolve, reject) => {
    const { signal } = options;
    server.server.onclose = resolve;
    server.server.onerror = onDefect;
    options.input.once('end', resolve);
    scorer.catch(reject);
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    if (signal?.aborted) reject(signal.reason as Error);
  });
  try {
    await server.connect(transport);
    await ended;
  } finally {
    closing.abort(new Error('the client has gone'));
    await server.close();
  }
}
