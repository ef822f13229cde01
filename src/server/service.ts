import { Admission } from './batching/admission.ts';
import { ApiError } from './http/api-error.ts';
import { ServerMetrics } from './metrics.ts';
import { type ChatJob, ModelHost, type ScoredPicture } from './model-host.ts';
import type { ServerSettings } from './settings.ts';
import type { ChatAnswer, EncodedPicture, ModelInfo, ScoreQuestion } from './threads/tasks.ts';

/** What the HTTP face needs of scoring. */
export interface ScoringService {
  readonly metrics: ServerMetrics;
  readonly model: ModelInfo & { openedAt: Date };
  isReady(): boolean;
  /** Takes places in the queue; OVERLOADED or UNAVAILABLE when there are none. */
  enter(pictures: number): (outcome: { done: boolean }) => void;
  score(picture: EncodedPicture, options: ScoreQuestion, signal: AbortSignal): Promise<ScoredPicture>;
  chat(job: ChatJob, signal: AbortSignal): Promise<ChatAnswer>;
  /** Loads the folder anew. Requests under way are answered by the model that they came to. */
  reload(): Promise<ModelInfo>;
}

/** The model in use, which can be exchanged while requests run, and the door before it. */
export class ModelService implements ScoringService {
  readonly metrics: ServerMetrics;
  readonly #folder: string;
  readonly #settings: ServerSettings;
  readonly #admission: Admission;
  #host: ModelHost;
  #reloading: Promise<ModelInfo> | undefined;
  readonly #retired = new Set<Promise<void>>();
  #stopping = false;

  private constructor(folder: string, settings: ServerSettings, metrics: ServerMetrics, host: ModelHost) {
    this.#folder = folder;
    this.#settings = settings;
    this.metrics = metrics;
    this.#host = host;
    this.#admission = new Admission(settings);
    metrics.watch({
      admitted: () => this.#admission.admitted,
      waiting: () => this.#host.waiting,
      ready: () => this.isReady(),
    });
  }

  static async open(folder: string, settings: ServerSettings): Promise<ModelService> {
    const metrics = new ServerMetrics();
    return new ModelService(folder, settings, metrics, await ModelHost.open(folder, settings, metrics));
  }

  /** Pictures admitted and not answered yet. */
  get admitted(): number {
    return this.#admission.admitted;
  }

  get model(): ModelInfo & { openedAt: Date } {
    return { ...this.#host.info, openedAt: this.#host.openedAt };
  }

  isReady(): boolean {
    return !this.#stopping && this.#host.isReady;
  }

  enter(pictures: number): (outcome: { done: boolean }) => void {
    if (this.#stopping) {
      throw new ApiError('UNAVAILABLE', 'the server is stopping', {
        hint: 'send the request to another one, or again when it is back',
        retryAfter: 5,
      });
    }
    return this.#admission.enter(pictures);
  }

  score(picture: EncodedPicture, options: ScoreQuestion, signal: AbortSignal): Promise<ScoredPicture> {
    return this.#host.score(picture, options, signal);
  }

  chat(job: ChatJob, signal: AbortSignal): Promise<ChatAnswer> {
    return this.#host.chat(job, signal);
  }

  reload(): Promise<ModelInfo> {
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  /** Takes no more requests, waits for those under way, and ends all threads. */
  async close(): Promise<void> {
    this.#stopping = true;
    await this.#reloading?.catch(() => undefined);
    await Promise.all([...this.#retired, this.#host.close()]);
    this.metrics.registry.clear();
  }

  async #reload(): Promise<ModelInfo> {
    try {
      const next = await ModelHost.open(this.#folder, this.#settings, this.metrics);
      const old = this.#host;
      this.#host = next;
      const retired = old.close().finally(() => this.#retired.delete(retired));
      this.#retired.add(retired);
      this.metrics.reloads.inc({ outcome: 'ok' });
      return next.info;
    } catch (error) {
      this.metrics.reloads.inc({ outcome: 'failed' });
      throw error;
    }
  }
}
