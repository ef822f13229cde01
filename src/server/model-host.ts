import { InputError } from '../core/index.ts';
import type { Score } from '../scoring/index.ts';
import { Batcher } from './batching/batcher.ts';
import { Lanes } from './batching/lanes.ts';
import type { ServerMetrics } from './metrics.ts';
import type { ServerSettings } from './settings.ts';
import { StandingThread } from './threads/standing-thread.ts';
import { threadModule } from './threads/task-thread.ts';
import type {
  ChatAnswer,
  ChatOptions,
  ChatTurn,
  EncodedPicture,
  InferenceTask,
  ModelInfo,
  PreparedPicture,
  ScoreQuestion,
  ThreadSettings,
} from './threads/tasks.ts';

/** Pictures decoded at the same time: at their full size a few fill hundreds of megabytes. */
const DECODED_AT_ONCE = 3;

export interface ScoredPicture extends Score {
  /** Size of the picture as decoded. */
  width: number;
  height: number;
}

export interface ChatJob {
  turns: ChatTurn[];
  pictures: EncodedPicture[];
  options: ChatOptions;
  onText?: ((text: string) => void) | undefined;
}

interface ScoreJob {
  kind: 'score';
  picture: PreparedPicture;
  options: ScoreQuestion;
}
interface PreparedChat {
  kind: 'chat';
  turns: ChatTurn[];
  pictures: PreparedPicture[];
  options: ChatOptions;
  onText: ((text: string) => void) | undefined;
}
type Job = ScoreJob | PreparedChat;
type Answer = Score | ChatAnswer;

let aloneCount = 0;

/**
 * What one pass can do together: the same kind and settings, pictures of one shape. What is drawn depends on its
 * place in a batch, and what is streamed has one listener: these go alone.
 */
function keyOf(job: Job): string {
  const { options } = job;
  const alone =
    job.kind === 'chat' ? job.options.temperature > 0 || job.options.stream : job.options.mode === 'sampled';
  if (alone) return `alone ${aloneCount++}`;
  const shapes = job.kind === 'chat' ? job.pictures.map(({ shape }) => shape) : [job.picture.shape];
  return JSON.stringify([job.kind, options, shapes]);
}

/**
 * One loaded model: a thread that decodes, threads that infer, and the queue before them. A reload opens another
 * host; this one answers what it has and is closed.
 */
export class ModelHost {
  readonly info: ModelInfo;
  readonly openedAt: Date = new Date();
  readonly #prepare: StandingThread<unknown>;
  readonly #inference: StandingThread<ModelInfo>[];
  readonly #lanes = new Lanes(DECODED_AT_ONCE);
  readonly #batcher: Batcher<Job, Answer>;
  readonly #metrics: ServerMetrics;
  readonly #free: StandingThread<ModelInfo>[];
  #users = 0;
  #unused: (() => void)[] = [];

  private constructor(
    info: ModelInfo,
    prepare: StandingThread<unknown>,
    inference: StandingThread<ModelInfo>[],
    settings: ServerSettings,
    metrics: ServerMetrics,
  ) {
    this.info = info;
    this.#prepare = prepare;
    this.#inference = inference;
    this.#free = [...inference];
    this.#metrics = metrics;
    this.#batcher = new Batcher<Job, Answer>({
      maxItems: settings.batching.maxImages,
      windowMs: settings.batching.windowMs,
      slots: inference.length,
      keyOf,
      run: (jobs, signal) => this.#runBatch(jobs, signal),
    });
  }

  /** Loads the model folder in threads. Rejects with the error of the first thread that cannot be opened. */
  static async open(model: string, settings: ServerSettings, metrics: ServerMetrics): Promise<ModelHost> {
    const { imageBytes, pixels } = settings.limits;
    const shared: ThreadSettings = {
      model,
      prompt: settings.prompt,
      mode: settings.mode,
      threads: settings.threads,
      maxImages: settings.batching.maxImages,
      warmUp: settings.warmUp,
      input: {
        maxBytes: imageBytes,
        maxPixels: pixels,
        timeoutMs: settings.requestTimeoutMs,
        allowHttp: settings.security.allowRemoteUrls,
        allowSvg: settings.security.allowSvg,
      },
    };
    const module = (name: string): URL => threadModule(`threads/${name}`, import.meta.url);
    const crashed = (thread: string) => (): void => metrics.restarts.inc({ thread });
    const prepare = new StandingThread<unknown>(module('prepare-thread'), shared, crashed('prepare'));
    const inference = Array.from(
      { length: settings.workers },
      () => new StandingThread<ModelInfo>(module('inference-thread'), shared, crashed('inference')),
    );
    const threads = [prepare, ...inference];
    const opened = await Promise.allSettled(threads.map(({ ready }) => ready));
    const failure = opened.find((one) => one.status === 'rejected');
    if (failure !== undefined) {
      await Promise.all(threads.map((thread) => thread.close()));
      throw failure.reason;
    }
    const info = (opened[1] as PromiseFulfilledResult<ModelInfo>).value;
    return new ModelHost(info, prepare, inference, settings, metrics);
  }

  /** Whether every thread is open. */
  get isReady(): boolean {
    return [this.#prepare, ...this.#inference].every(({ isOpen }) => isOpen);
  }

  /** Pictures that no batch has taken yet. */
  get waiting(): number {
    return this.#batcher.waiting;
  }

  score(picture: EncodedPicture, options: ScoreQuestion, signal: AbortSignal): Promise<ScoredPicture> {
    return this.#use(async () => {
      const prepared = await this.#prepared(picture, signal);
      const job: ScoreJob = {
        kind: 'score',
        picture: prepared,
        options: { mode: this.info.mode, ...options },
      };
      const result = (await this.#batcher.add(job, signal)) as Score;
      return { ...result, width: prepared.width, height: prepared.height };
    });
  }

  chat({ turns, pictures, options, onText }: ChatJob, signal: AbortSignal): Promise<ChatAnswer> {
    return this.#use(async () => {
      const prepared = await Promise.all(pictures.map((picture) => this.#prepared(picture, signal)));
      const job: PreparedChat = { kind: 'chat', turns, pictures: prepared, options, onText };
      return (await this.#batcher.add(job, signal)) as ChatAnswer;
    });
  }

  /** Waits until nobody uses this host any more, then ends its threads. */
  async close(): Promise<void> {
    if (this.#users > 0) await new Promise<void>((resolve) => this.#unused.push(resolve));
    await this.#batcher.drained();
    await Promise.all([this.#prepare, ...this.#inference].map((thread) => thread.close()));
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await work();
    } finally {
      if (--this.#users === 0) for (const resolve of this.#unused.splice(0)) resolve();
    }
  }

  #prepared(picture: EncodedPicture, signal: AbortSignal): Promise<PreparedPicture> {
    const transfer = 'bytes' in picture ? transferable(picture.bytes) : [];
    return this.#lanes.run(signal, () => this.#prepare.run<PreparedPicture>(picture, { transfer, signal }));
  }

  async #runBatch(jobs: Job[], signal: AbortSignal): Promise<(Answer | Error)[]> {
    const thread = this.#free.shift()!;
    const end = this.#metrics.batchSeconds.startTimer();
    this.#metrics.batchSize.observe(jobs.length);
    try {
      return await this.#runIn(thread, jobs, signal);
    } finally {
      end();
      this.#free.push(thread);
    }
  }

  async #runIn(
    thread: StandingThread<ModelInfo>,
    jobs: readonly Job[],
    signal: AbortSignal,
  ): Promise<(Answer | Error)[]> {
    try {
      return await thread.run<Answer[]>(taskOf(jobs), {
        signal,
        onEvent: (text) => {
          const [job] = jobs;
          if (job?.kind === 'chat') job.onText?.(text as string);
        },
      });
    } catch (error) {
      // One that cannot be answered, such as a conversation that is too long, must not cost the others theirs.
      if (jobs.length === 1 || !(error instanceof InputError)) throw error;
      const answers: (Answer | Error)[] = [];
      for (const job of jobs) {
        answers.push(...(await this.#runIn(thread, [job], signal).catch((one: Error) => [one])));
      }
      return answers;
    }
  }
}

function taskOf(jobs: readonly Job[]): InferenceTask {
  const [first] = jobs as [Job];
  if (first.kind === 'score') {
    const images = (jobs as ScoreJob[]).map(({ picture }) => picture.image);
    return { kind: 'score', images, options: first.options };
  }
  const conversations = (jobs as PreparedChat[]).map(({ turns, pictures }) => ({
    turns,
    images: pictures.map(({ image }) => image),
  }));
  return { kind: 'chat', conversations, options: first.options };
}

/** The buffer of a view that is all of it, to be handed over instead of copied. */
function transferable({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
