import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Completion, Rng } from '../../../src/core/index.ts';
import { decodeImage } from '../../../src/data/index.ts';
import { tf } from '../../../src/engine/index.ts';
import {
  appendTokens,
  baseFingerprint,
  type ChatMessage,
  collate,
  disposeAdapter,
  disposeParameters,
  generate,
  loadAdapter,
  loadModel,
  preprocess,
  promptSequence,
  responseLogProbabilities,
  type Sequence,
  type VisionLanguageModel,
  withoutAdapter,
} from '../../../src/model/index.ts';

/** What goes wrong with one generation. */
export type Fault =
  | 'stall'
  | 'hang'
  | 'http-500'
  | 'http-400'
  | 'break'
  | 'cut-json'
  /** The adapters are gone. */
  | 'restart'
  /** No connections for a tenth of a second, and then no adapters. */
  | 'killed'
  | 'http-401'
  | 'fewer-choices'
  | 'no-log-probabilities'
  | 'one-log-probability-less'
  | 'no-token-ids'
  | 'other-prompt'
  | 'more-picture-tokens'
  | 'other-model'
  | 'picture-token'
  | 'goes-on'
  | 'abort';

export interface MiniatureServer {
  baseUrl: string;
  /** Everything that was asked for, in order. */
  requests: { path: string; body: Body; key: string | undefined }[];
  /** One for each generation to come, the temperature check left out; undefined: none. */
  faults: (Fault | undefined)[];
  /** Loaded adapters: path by name. */
  readonly loaded: ReadonlyMap<string, string>;
  /** Log-probabilities as the model has them, before temperature and bans. */
  raw: boolean;
  /** What "other-model" answers in the name of. */
  otherModel: string;
  /** Takes requests and says nothing, /health included. */
  stalled: boolean;
  /** As just started, with nothing loaded and nobody connected. */
  reset(): void;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire
type Body = any;

const CHECK_TEMPERATURE = 1000;

/**
 * vLLM's and SGLang's protocol in front of a real model: ids and log-probabilities are those of its own copy of the
 * weights, with the adapter that it was told to load from a folder.
 */
export async function startMiniatureServer(base: string): Promise<MiniatureServer> {
  const model = await loadModel(base);
  const fingerprint = await baseFingerprint(base);
  const adapted = new Map<string, VisionLanguageModel>();
  const loaded = new Map<string, string>();
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };

  const state: MiniatureServer = {
    baseUrl: '',
    requests: [],
    faults: [],
    loaded,
    raw: false,
    otherModel: '',
    stalled: false,
    reset: () => undefined,
    close: async () => undefined,
  };

  const modelOf = async (name: string): Promise<VisionLanguageModel> => {
    const path = loaded.get(name)!;
    const known = adapted.get(path + name);
    if (known !== undefined) return known;
    const parameters = withoutAdapter(model.parameters);
    parameters.adapter = await loadAdapter(path, model.config, fingerprint);
    const made = { ...model, parameters };
    adapted.set(path + name, made);
    return made;
  };

  const raw = async (
    own: VisionLanguageModel,
    prompt: Sequence,
    ids: readonly number[],
  ): Promise<number[]> => {
    const batch = collate([appendTokens(prompt, ids, 'action')], own.config);
    const scores = tf.tidy(() => responseLogProbabilities(own, batch).logProbabilities);
    const values = Array.from((await scores.data()).subarray(0, ids.length));
    scores.dispose();
    return values;
  };

  const sample = (name: string, prompt: Sequence, asked: Asked): Promise<Completion[]> =>
    inTurn(async () => {
      const own = await modelOf(name);
      const [completions] = await generate(own, [prompt], {
        samplesPerPrompt: asked.count,
        maxNewTokens: asked.maxNewTokens,
        temperature: asked.temperature,
        rng: new Rng(`miniature server ${asked.seed}`),
        bannedTokenIds: Object.keys(asked.bias).map(Number),
      });
      if (!state.raw) return completions!;
      return Promise.all(
        completions!.map(async (one) => ({ ...one, logProbabilities: await raw(own, prompt, one.tokenIds) })),
      );
    });

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      if (state.stalled) return;
      const path = incoming.url ?? '';
      if (path === '/health') return void response.writeHead(200).end();
      const body: Body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      state.requests.push({ path, body, key: incoming.headers.authorization });
      answer(path, body, response).catch((error: unknown) =>
        send(response, 500, { error: { message: String(error) } }),
      );
    });
  });

  const answer = async (path: string, body: Body, response: ServerResponse): Promise<void> => {
    const name: string = body.lora_name ?? body.lora_path ?? body.model;
    if (path.endsWith('/load_lora_adapter')) {
      if (loaded.has(name))
        return send(response, 400, {
          error: { message: `The lora adapter '${name}' has already been loaded.`, code: 400 },
        });
      loaded.set(name, body.lora_path);
      return void response.writeHead(200).end(`Success: LoRA adapter '${name}' added successfully.`);
    }
    if (path.endsWith('/unload_lora_adapter')) {
      if (!loaded.delete(name)) return send(response, 404, { error: { message: 'it cannot be found' } });
      return void response.writeHead(200).end('Success');
    }
    const fault = temperatureOf(body) === CHECK_TEMPERATURE ? undefined : state.faults.shift();
    if (fault === 'restart' || fault === 'killed') loaded.clear();
    if (fault === 'killed') {
      const { port } = server.address() as AddressInfo;
      server.close(() => setTimeout(() => server.listen(port, '127.0.0.1'), 100));
      return server.closeAllConnections();
    }
    if (!loaded.has(name))
      return path === '/generate'
        ? send(response, 400, {
            error: { message: `The following requested LoRA adapters are not loaded: {'${name}'}` },
          })
        : send(response, 404, { error: { message: `The model \`${name}\` does not exist.`, code: 404 } });
    if (fault === 'hang') return;
    if (fault === 'stall') {
      state.stalled = true;
      // It is up again once the client has given up on it.
      response.on('close', () => {
        state.stalled = false;
      });
      return;
    }
    if (fault === 'http-500') return send(response, 500, { error: { message: 'CUDA error' } });
    if (fault === 'http-401') return send(response, 401, { error: 'Unauthorized secret-key' });
    if (fault === 'http-400') return send(response, 400, { error: { message: 'max_tokens is too large' } });
    if (fault === 'break') return void response.destroy();
    const json = await (path === '/generate' ? sglang(body, fault) : vllm(path, body, fault));
    if (fault !== 'cut-json') return send(response, 200, json);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json).slice(0, 60));
  };

  const vllm = async (path: string, body: Body, fault: Fault | undefined): Promise<object> => {
    const chat = path === '/v1/chat/completions';
    const prompt = chat ? await conversation(model, body) : textPrompt(body.prompt);
    const asked = {
      count: body.n,
      maxNewTokens: body.max_tokens,
      temperature: body.temperature,
      seed: body.seed,
      bias: body.logit_bias ?? {},
    };
    const answers = spoilt(await sample(body.model, prompt, asked), fault, model);
    const promptIds = spoiltPrompt(prompt.tokenIds, fault, model);
    const choices = answers.map(({ tokenIds, logProbabilities, text, finishReason }, index) => ({
      index,
      ...(chat ? { message: { role: 'assistant', content: text } } : { text, prompt_token_ids: promptIds }),
      token_ids: body.return_token_ids === true && fault !== 'no-token-ids' ? tokenIds : null,
      finish_reason: finishReason,
      logprobs:
        logProbabilities === null
          ? null
          : chat
            ? { content: logProbabilities.map((logprob) => ({ token: '', logprob, top_logprobs: [] })) }
            : { token_logprobs: logProbabilities, tokens: [] },
    }));
    return {
      object: chat ? 'chat.completion' : 'text_completion',
      model: fault === 'other-model' ? state.otherModel : body.model,
      choices,
      usage: { prompt_tokens: promptIds.length },
      ...(chat && fault !== 'no-token-ids' ? { prompt_token_ids: promptIds } : {}),
    };
  };

  const sglang = async (body: Body, fault: Fault | undefined): Promise<object> => {
    const settings = body.sampling_params;
    const images = await Promise.all(
      ((body.image_data ?? []) as string[]).map((url) => pictureOf(url, model)),
    );
    // Each picture is one token in what is sent, and as many as it takes in what the model reads.
    let next = 0;
    const tokenIds = (body.input_ids as number[]).flatMap((id) =>
      id === model.config.tokens.imagePad ? new Array<number>(tokensOf(images[next++]!)).fill(id) : [id],
    );
    const prompt = { tokenIds, roles: tokenIds.map(() => 'prompt' as const), images };
    const asked = {
      count: settings.n,
      maxNewTokens: settings.max_new_tokens,
      temperature: settings.temperature,
      seed: 0,
      bias: settings.logit_bias ?? {},
    };
    const promptIds = spoiltPrompt(tokenIds, fault, model);
    const answers = spoilt(await sample(body.lora_path, prompt, asked), fault, model).map(
      ({ tokenIds: ids, logProbabilities, text, finishReason }) => ({
        text,
        output_ids: fault === 'no-token-ids' ? null : ids,
        ...(body.return_prompt_token_ids === true ? { prompt_token_ids: promptIds } : {}),
        meta_info: {
          finish_reason: { type: finishReason },
          prompt_tokens: promptIds.length,
          ...(logProbabilities === null || fault === 'no-token-ids'
            ? {}
            : { output_token_logprobs: logProbabilities.map((value, i) => [value, ids[i], null]) }),
        },
      }),
    );
    return settings.n === 1 ? answers[0]! : answers;
  };

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  state.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.reset = () => {
    server.closeAllConnections();
    loaded.clear();
    Object.assign(state, { requests: [], faults: [], raw: false, otherModel: '', stalled: false });
  };
  state.close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await turn;
    for (const { parameters } of adapted.values()) disposeAdapter(parameters.adapter!);
    disposeParameters(model.parameters);
  };
  return state;
}

interface Asked {
  count: number;
  maxNewTokens: number;
  temperature: number;
  seed: number;
  bias: Record<string, number>;
}

const temperatureOf = (body: Body): number => body.temperature ?? body.sampling_params?.temperature;

function send(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

const textPrompt = (tokenIds: number[]): Sequence => ({
  tokenIds,
  roles: tokenIds.map(() => 'prompt' as const),
  images: [],
});

const pictureOf = async (url: string, model: VisionLanguageModel) =>
  preprocess(await decodeImage(Buffer.from(url.split(',')[1]!, 'base64')), model.processor);

const tokensOf = ({ grid }: { grid: { h: number; w: number } }): number => (grid.h * grid.w) / 4;

/** The server's own way from messages to tokens: template, tokenizer and processor of its folder. */
async function conversation(model: VisionLanguageModel, body: Body): Promise<Sequence> {
  const urls: string[] = [];
  let messages = (body.messages as Body[]).map(
    ({ role, content }): ChatMessage => ({
      role,
      content: Array.isArray(content)
        ? content.map((part) => {
            if (part.type === 'text') return { type: 'text' as const, text: part.text as string };
            urls.push(part.image_url.url);
            return { type: 'image' as const };
          })
        : content,
    }),
  );
  const given = body.continue_final_message === true ? (messages.at(-1)!.content as string) : '';
  if (given !== '') messages = messages.slice(0, -1);
  const images = await Promise.all(urls.map((url) => pictureOf(url, model)));
  const prompt = promptSequence(model, messages, images);
  return given === '' ? prompt : appendTokens(prompt, model.tokenizer.encode(given), 'prompt');
}

type Answer = Omit<Completion, 'logProbabilities' | 'finishReason'> & {
  logProbabilities: (number | null)[] | null;
  finishReason: string;
};

function spoilt(
  answers: readonly Completion[],
  fault: Fault | undefined,
  model: VisionLanguageModel,
): Answer[] {
  const first = (change: (one: Completion) => Partial<Answer>): Answer[] =>
    answers.map((one, i) => (i === 0 ? { ...one, ...change(one) } : one));
  switch (fault) {
    case 'fewer-choices':
      return answers.slice(1);
    case 'no-log-probabilities':
      return answers.map((one) => ({ ...one, logProbabilities: null }));
    case 'one-log-probability-less':
      return first(({ logProbabilities: all }) => ({ logProbabilities: all.with(-1, -9999) }));
    case 'picture-token':
      return first(({ tokenIds }) => ({ tokenIds: tokenIds.with(0, model.config.tokens.imagePad!) }));
    case 'goes-on':
      return first(({ tokenIds }) => ({ tokenIds: tokenIds.with(0, model.tokenizer.endOfSequenceIds[0]!) }));
    case 'abort':
      return first(() => ({ finishReason: 'abort' }));
    default:
      return [...answers];
  }
}

function spoiltPrompt(
  tokenIds: readonly number[],
  fault: Fault | undefined,
  model: VisionLanguageModel,
): number[] {
  const pad = tokenIds.lastIndexOf(model.config.tokens.imagePad!);
  if (fault === 'other-prompt') return tokenIds.with(2, 5);
  if (fault === 'more-picture-tokens') return tokenIds.toSpliced(pad, 0, tokenIds[pad]!);
  return [...tokenIds];
}
