import { ConfigError } from '../../core/index.ts';
import { encodePng } from '../../data/index.ts';
import {
  type ImageProcessorConfig,
  neverSampledTokenIds,
  resizeForModel,
  type VisionLanguageModel,
} from '../../model/index.ts';
import { Failure, imageDataUrl, quoter } from '../../remote/index.ts';
import { AdapterStore } from './adapter-store.ts';
import type { ServerEngineConfig } from './config.ts';
import { type FailureWords, failureWords } from './describe-failure.ts';
import { requireSamePrompt } from './prompt-check.ts';
import { failedGroup, readGroup, requireSome } from './read-group.ts';
import type { EngineGroup, EnginePrompt, EngineSampling, RolloutEngine } from './rollout-engine.ts';
import { type Served, ServedAdapters } from './served-adapters.ts';
import { ServerClient } from './server-client.ts';
import {
  type GenerationRequest,
  MOST_TEMPERATURE,
  type ServerProtocol,
  type ServerReply,
} from './server-protocol.ts';

export interface ServerEngineOptions {
  /** Sent as a bearer token. */
  apiKey?: string | undefined;
  /** Told of what was mended on the way: a restarted server, an adapter that could not be unloaded. */
  note?: (line: string) => void;
}

/** Rollouts of a vLLM or SGLang server, which is given the trainer's adapter after each update. */
export class ServerEngine implements RolloutEngine {
  readonly kind: ServerProtocol['kind'];
  readonly #concurrency: number;
  readonly #protocol: ServerProtocol;
  readonly #client: ServerClient;
  readonly #store: AdapterStore;
  readonly #adapters: ServedAdapters;
  readonly #words: FailureWords;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closed = new AbortController();
  #served: Served | null = null;

  constructor(config: ServerEngineConfig, protocol: ServerProtocol, options: ServerEngineOptions = {}) {
    const { apiKey, note = () => undefined } = options;
    this.kind = protocol.kind;
    this.#concurrency = config.concurrency;
    this.#protocol = protocol;
    this.#client = new ServerClient(config, apiKey);
    this.#store = new AdapterStore(config);
    this.#words = failureWords(this.#client.address, quoter(apiKey?.trim() ?? null));
    const { signal } = this.#closed;
    const links = { config, protocol, client: this.#client, words: this.#words, note, signal };
    this.#adapters = new ServedAdapters(links);
  }

  get version(): number {
    return this.#served?.adapter.version ?? 0;
  }

  /**
   * Saves the adapter, loads it under its own name, and unloads the one before as soon as nothing samples with it:
   * samples under way end with the version that they began with.
   */
  async synchronise(model: VisionLanguageModel, version: number): Promise<void> {
    const before = this.#served?.adapter;
    const next = { model, adapter: await this.#store.save(model, version) };
    await this.#adapters.load(next);
    this.#served = next;
    if (before !== undefined && before.name !== next.adapter.name) {
      await Promise.allSettled(this.#underWay);
      await this.#adapters.unload(before);
    }
    await this.#store.prune();
  }

  async sample(prompts: readonly EnginePrompt[], sampling: EngineSampling): Promise<EngineGroup[]> {
    const served = this.#served;
    if (served === null)
      throw new ConfigError('the rollout server has no adapter yet: synchronise comes before sample');
    requireSampling(sampling);
    const work = this.#sampleAll(served, prompts, sampling);
    this.#underWay.add(work);
    try {
      return requireSome(await work, this.#client.address);
    } finally {
      this.#underWay.delete(work);
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new ConfigError('the rollout engine is closed'));
    await Promise.allSettled(this.#underWay);
    const served = this.#served;
    this.#served = null;
    if (served !== null) await this.#adapters.unload(served.adapter);
  }

  /** All prompts, so many at a time. The first error ends the rest. */
  async #sampleAll(
    served: Served,
    prompts: readonly EnginePrompt[],
    sampling: EngineSampling,
  ): Promise<EngineGroup[]> {
    const { rng, signal } = sampling;
    const stream = rng.uint32();
    const stop = new AbortController();
    const ends = AbortSignal.any([
      stop.signal,
      this.#closed.signal,
      ...(signal === undefined ? [] : [signal]),
    ]);
    const groups: EngineGroup[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let i = next++; i < prompts.length; i = next++) {
        groups[i] = await this.#group(served, prompts[i]!, rng.fork(stream, i).uint32(), sampling, ends);
      }
    };
    const workers = Array.from({ length: Math.min(this.#concurrency, prompts.length) }, () =>
      work().catch((error: unknown) => stop.abort(error)),
    );
    await Promise.all(workers);
    ends.throwIfAborted();
    return groups;
  }

  async #group(
    served: Served,
    prompt: EnginePrompt,
    seed: number,
    { groupSize, maxNewTokens, temperature }: EngineSampling,
    signal: AbortSignal,
  ): Promise<EngineGroup> {
    const { config, tokenizer, processor } = served.model;
    const { tokenIds, roles } = prompt.sequence;
    const { imagePad } = config.tokens;
    const endIds = tokenizer.endOfSequenceIds;
    const bannedIds = neverSampledTokenIds(config, tokenizer);
    const asked = {
      prompt,
      pictures: await Promise.all(prompt.images.map((image) => pictureFor(image, processor))),
      given: tokenizer.decode(tokenIds.filter((_, i) => roles[i] !== 'prompt')),
      imagePad,
      count: groupSize,
      maxNewTokens,
      temperature,
      seed,
      endIds,
      bannedIds,
    };
    let reply: ServerReply;
    try {
      reply = await this.#generate(served, asked, signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.reason === 'authentication') throw this.#words.error(error);
      return failedGroup(groupSize, this.#words.rollout(error));
    }
    const version = this.#adapters.versionOf(reply, served.adapter);
    if (typeof version !== 'number') return failedGroup(groupSize, version);
    // Without ids the reply is of no use anyway, which its failures say better.
    if (reply.choices.some((choice) => choice.tokenIds !== null))
      requireSamePrompt(reply, tokenIds, { tokenizer, imagePad });
    return readGroup(reply.choices, groupSize, {
      tokenizer,
      maxNewTokens,
      endIds: new Set(endIds),
      bannedIds: new Set(bannedIds),
      version,
    });
  }

  /** Asks; a server that was started anew is given the adapter again, once. */
  async #generate(
    served: Served,
    asked: Omit<GenerationRequest, 'adapter'>,
    signal: AbortSignal,
  ): Promise<ServerReply> {
    const request = this.#protocol.generation({ ...asked, adapter: served.adapter.name });
    const ask = () => this.#client.post(request, { signal, read: (json) => this.#protocol.reply(json) });
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Failure && this.#protocol.lacksAdapter(error))) throw error;
    }
    await this.#adapters.reload(served);
    return ask();
  }
}

function requireSampling({ groupSize, temperature }: EngineSampling): void {
  if (!(temperature >= 0 && temperature <= MOST_TEMPERATURE))
    throw new ConfigError(
      `temperature is ${temperature}, allowed with a rollout server is 0 to ${MOST_TEMPERATURE}`,
      {
        hint: 'above it, tokens that stand for pictures are within reach there; sample with the local engine',
      },
    );
  if (temperature === 0 && groupSize > 1)
    throw new ConfigError(`${groupSize} answers at temperature 0 would all be the same, allowed is 1`);
}

/** At the size that the model sees, so that the server's own way of resizing has nothing left to do. */
async function pictureFor(
  image: EnginePrompt['images'][number],
  processor: ImageProcessorConfig,
): Promise<string> {
  return imageDataUrl(await encodePng(resizeForModel(image, processor)), 'image/png');
}
