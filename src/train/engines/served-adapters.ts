import type { VisionLanguageModel } from '../../model/index.ts';
import { Failure } from '../../remote/index.ts';
import type { StoredAdapter } from './adapter-store.ts';
import type { ServerEngineConfig } from './config.ts';
import type { FailureWords } from './describe-failure.ts';
import type { RolloutFailure } from './rollout-engine.ts';
import type { ServerClient } from './server-client.ts';
import type { GenerationRequest, ServerProtocol, ServerReply } from './server-protocol.ts';
import { CHECK_TEMPERATURE, CHECK_TOKENS, requireSamplingTemperature } from './temperature-check.ts';

/** An adapter that is being sampled with, and the model that it belongs to. */
export interface Served {
  model: VisionLanguageModel;
  adapter: StoredAdapter;
}

interface Links {
  config: Pick<ServerEngineConfig, 'checkLogProbabilities' | 'maxStaleness' | 'timeoutSeconds'>;
  protocol: ServerProtocol;
  client: ServerClient;
  words: FailureWords;
  note: (line: string) => void;
  /** Ends loading. */
  signal: AbortSignal;
}

/** The adapters of a server: loads, unloads, loads again after a restart, and knows which version a name stands for. */
export class ServedAdapters {
  readonly #links: Links;
  /** Of all that were loaded, by name. */
  readonly #versions = new Map<string, number>();
  #reloading: Promise<void> | null = null;

  constructor(links: Links) {
    this.#links = links;
  }

  /** RemoteError where the server does not take it, ConfigError where its log-probabilities are of no use. */
  async load({ model, adapter: { name, pathOnServer, version } }: Served): Promise<void> {
    const { protocol, client, words, signal, config } = this.#links;
    try {
      await client.post(protocol.load(name, pathOnServer), { signal });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!protocol.isLoaded(error)) {
        const doing = `loading the adapter ${name} from ${pathOnServer}: `;
        throw words.error(error, { doing, hint: protocol.adapterHint });
      }
    }
    this.#versions.set(name, version);
    if (config.checkLogProbabilities) await this.#checkTemperature(model, name);
  }

  /** `load` after a restart, once for all requests that miss the adapter at the same time. */
  reload(served: Served): Promise<void> {
    const { note, client } = this.#links;
    if (this.#reloading === null) {
      note(
        `${client.address} has lost the adapter ${served.adapter.name}, as after a restart: it is loaded again`,
      );
      this.#reloading = this.load(served).finally(() => {
        this.#reloading = null;
      });
    }
    return this.#reloading;
  }

  /** One that stays loaded costs the server memory and the run nothing: noted, not thrown. */
  async unload({ name }: StoredAdapter): Promise<void> {
    const { protocol, client, words, note, config } = this.#links;
    const signal = AbortSignal.timeout(config.timeoutSeconds * 1000);
    try {
      await client.post(protocol.unload(name), { signal });
    } catch (error) {
      if (!(error instanceof Failure) && !signal.aborted) throw error;
      note(
        `the adapter ${name} stays loaded: ${error instanceof Failure ? words.line(error) : 'no reply in time'}`,
      );
    }
  }

  /** The version that sampled a reply, or why the reply is not used. */
  versionOf({ model }: ServerReply, { name, version }: StoredAdapter): number | RolloutFailure {
    if (model === null || model === name) return version;
    const own = this.#versions.get(model);
    const { config, words } = this.#links;
    if (own !== undefined && own <= version && version - own <= config.maxStaleness) return own;
    const what = own === undefined ? 'which is no adapter of this run' : `version ${own}`;
    return {
      reason: 'stale-adapter',
      message: `${words.quote(model)} answered, ${what}, instead of ${name}`,
    };
  }

  async #checkTemperature({ tokenizer, config }: VisionLanguageModel, adapter: string): Promise<void> {
    const { protocol, client, words, signal } = this.#links;
    const request = protocol.generation(
      temperatureRequest(adapter, tokenizer.encode('The quality of the image')),
    );
    try {
      const reply = await client.post(request, { signal, read: (json) => protocol.reply(json) });
      requireSamplingTemperature(reply, config.text.vocabularySize, protocol.logProbabilityHint);
    } catch (error) {
      throw error instanceof Failure
        ? words.error(error, { doing: 'asking for log-probabilities: ' })
        : error;
    }
  }
}

const temperatureRequest = (adapter: string, tokenIds: readonly number[]): GenerationRequest => ({
  adapter,
  prompt: {
    sequence: { tokenIds, roles: tokenIds.map(() => 'prompt' as const), images: [] },
    messages: [],
    images: [],
  },
  pictures: [],
  given: '',
  imagePad: null,
  count: 1,
  maxNewTokens: CHECK_TOKENS,
  temperature: CHECK_TEMPERATURE,
  seed: 0,
  endIds: [],
  bannedIds: [],
});
