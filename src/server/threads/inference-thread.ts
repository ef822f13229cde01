/** Holds a model and runs batches, one at a time: the engine's binding is synchronous, so it has its own thread. */
import { workerData } from 'node:worker_threads';
import { createScorer, type Scorer } from '../../scoring/index.ts';
import { answerChats } from './answer-chats.ts';
import { serveTasks, type TaskContext } from './serve-tasks.ts';
import type { InferenceTask, ModelInfo, ThreadSettings } from './tasks.ts';

/** Compiled graphs kept: a few for each shape of picture and size of batch. */
const CACHED_GRAPHS = 96;
/** Side of the grey picture that is scored before the thread is ready. */
const WARM_UP_SIDE = 224;

await serveTasks<InferenceTask>(async () => {
  const settings = workerData as ThreadSettings;
  const scorer = await createScorer({
    model: settings.model,
    prompt: settings.prompt,
    mode: settings.mode,
    engine: { threads: settings.threads, cachedGraphs: CACHED_GRAPHS },
  });
  if (settings.warmUp) await warmUp(scorer, settings.maxImages);
  const { modelSha256, prompt, mode } = scorer.provenance;
  const info: ModelInfo = { modelSha256, prompt, mode };
  let last: Promise<unknown> = Promise.resolve();

  async function run(task: InferenceTask, { signal, emit }: TaskContext): Promise<unknown> {
    signal.throwIfAborted();
    if (task.kind === 'chat') return answerChats(scorer.model, task, signal, emit);
    return scorer.scoreBatch(task.images, { ...task.options, signal });
  }

  return {
    info,
    carryOut: async (task, context) => {
      const turn = last.then(() => run(task, context));
      last = turn.catch(() => undefined);
      return { value: await turn };
    },
    close: () => scorer.close(),
  };
});

async function warmUp(scorer: Scorer, maxImages: number): Promise<void> {
  const grey = (): { data: Uint8Array; width: number; height: number } => ({
    data: new Uint8Array(WARM_UP_SIDE * WARM_UP_SIDE * 3).fill(128),
    width: WARM_UP_SIDE,
    height: WARM_UP_SIDE,
  });
  for (const count of new Set([1, 2 ** Math.floor(Math.log2(maxImages))])) {
    await scorer.scoreBatch(Array.from({ length: count }, grey));
  }
}
