import { withExpectedScores, withLevelScores } from './expected-score.ts';
import type { Picture } from './inputs/index.ts';
import { readCompletion } from './read-completion.ts';
import type { ScoreResult, ScoringMode } from './result.ts';
import { asScore, type Score, type ScoreOptions, type ScoringContext, settle } from './score.ts';
import { questionSequence, scoreImages, viewCount, withInterval } from './score-images.ts';
import { streamCompletion } from './stream-completion.ts';

/** A piece of the model's text, and at the end the score. The pieces add up to its `text`. */
export type ScoreEvent = { type: 'text'; text: string } | { type: 'score'; score: Score };

/** Modes whose text is the greedy one, in which nothing is chosen among several answers. */
const STREAMED: readonly ScoringMode[] = ['greedy', 'expected', 'levels'];

const DEFAULT_NEW_TOKENS = 96;

/**
 * Scores one picture and yields the model's words as they come, then the score that `score` would give. Where the
 * words are chosen among several answers (`sampled`, or a model that looks at several views), they come in one
 * piece once all are there; modes without words yield the score alone, and so does `explain: false`.
 */
export async function* streamScore(
  input: Picture,
  context: ScoringContext,
  given: ScoreOptions | undefined,
): AsyncGenerator<ScoreEvent, void, undefined> {
  context.requireOpen();
  const options = settle(given, context);
  const { mode, signal, maxNewTokens = DEFAULT_NEW_TOKENS, explain } = options;
  const { model, prompt } = context;
  const startedAt = performance.now();
  const image = await context.open(input, signal);
  const openedAt = performance.now();
  const timings = () => ({
    openMs: openedAt - startedAt,
    modelMs: performance.now() - openedAt,
    sharedBy: 1,
  });
  if (!STREAMED.includes(mode) || viewCount(model) > 1) {
    const [result] = await scoreImages(model, prompt, [image], options);
    if (explain !== false && result!.text !== '') yield { type: 'text', text: result!.text };
    yield { type: 'score', score: asScore(result!, context, options, timings()) };
    return;
  }
  const question = questionSequence(model, prompt, image);
  const pieces = streamCompletion(model, question, { maxNewTokens, signal });
  let step = await pieces.next();
  try {
    for (; !step.done; step = await pieces.next()) {
      if (explain !== false) yield { type: 'text', text: step.value };
      context.requireOpen();
    }
  } finally {
    // Whoever stops listening must not leave the model's memory behind.
    if (!step.done) await pieces.return(undefined as never);
  }
  const completion = step.value;
  const read = readCompletion(completion);
  let results: ScoreResult[] = [read];
  if (mode === 'expected') results = await withExpectedScores(model, [question], [completion], [read]);
  if (mode === 'levels') results = await withLevelScores(model, [question], [completion], [read]);
  const result = withInterval(results[0]!, options);
  yield { type: 'score', score: asScore(result, context, options, timings()) };
}
