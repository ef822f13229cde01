import { z } from 'zod';
import { Failure } from '../../remote/index.ts';
import { logitBias, type ServerProtocol } from './server-protocol.ts';

const answer = z.object({
  output_ids: z.array(z.int()).nullish(),
  prompt_token_ids: z.array(z.int()).nullish(),
  meta_info: z.object({
    finish_reason: z.object({ type: z.string() }).nullish(),
    prompt_tokens: z.int().nullish(),
    prompt_token_ids: z.array(z.int()).nullish(),
    /** [log-probability, token id, text] of each token. */
    output_token_logprobs: z.array(z.tuple([z.number().nullable(), z.int()]).rest(z.unknown())).nullish(),
  }),
});
type Answer = z.infer<typeof answer>;
const oneOrMore = z.union([answer.transform((one) => [one]), z.array(answer)]);

/**
 * SGLang's own /generate, which takes token ids with and without pictures. A picture is one token in what is sent: the
 * server repeats it. The reply does not say which adapter answered; a request for one that is not loaded is refused,
 * and names stand for contents (`AdapterStore`), so that there is nothing stale behind a name.
 */
export const sglangProtocol: ServerProtocol = {
  kind: 'sglang',

  generation({ adapter, prompt, pictures, imagePad, count, maxNewTokens, temperature, endIds, bannedIds }) {
    const { tokenIds } = prompt.sequence;
    const folded = tokenIds.filter((id, i) => id !== imagePad || tokenIds[i - 1] !== imagePad);
    return {
      path: '/generate',
      body: {
        input_ids: pictures.length === 0 ? tokenIds : folded,
        ...(pictures.length === 0 ? {} : { image_data: pictures }),
        sampling_params: {
          n: count,
          max_new_tokens: maxNewTokens,
          temperature,
          top_p: 1,
          top_k: -1,
          min_p: 0,
          repetition_penalty: 1,
          presence_penalty: 0,
          frequency_penalty: 0,
          ...(endIds.length === 0 ? { ignore_eos: true } : { stop_token_ids: endIds }),
          ...(bannedIds.length === 0 ? {} : { logit_bias: logitBias(bannedIds) }),
        },
        lora_path: adapter,
        return_logprob: true,
        return_prompt_token_ids: true,
      },
    };
  },

  reply(json) {
    const parsed = oneOrMore.safeParse(json);
    if (!parsed.success)
      throw new Failure('malformed', 'the reply is no generation', {
        retryable: false,
        said: (JSON.stringify(json) ?? '').slice(0, 200),
      });
    const answers = parsed.data;
    const first = answers[0];
    return {
      model: null,
      promptTokenIds: first?.prompt_token_ids ?? first?.meta_info.prompt_token_ids ?? null,
      promptLength: first?.meta_info.prompt_tokens ?? null,
      choices: answers.map((one) => ({
        tokenIds: idsOf(one),
        logProbabilities: one.meta_info.output_token_logprobs?.map(([value]) => value) ?? null,
        finishReason: one.meta_info.finish_reason?.type ?? 'none',
      })),
    };
  },

  load: (name, path) => ({ path: '/load_lora_adapter', body: { lora_name: name, lora_path: path } }),
  unload: (name) => ({ path: '/unload_lora_adapter', body: { lora_name: name } }),
  lacksAdapter: ({ status, said = '' }) => status === 400 && /lora adapters? .*not loaded/is.test(said),
  isLoaded: ({ status, said = '' }) => status === 400 && /already (been )?(loaded|exists)/i.test(said),
  logProbabilityHint:
    'unset SGLANG_RETURN_ORIGINAL_LOGPROB in the environment of the server and start it again',
  adapterHint:
    'start the server with --enable-lora, --max-lora-rank of at least the rank of lora, and --lora-target-modules with the layers of lora.targets',
};

/** Ids stand beside their log-probabilities; where they also stand alone, both must be the same. */
function idsOf({ output_ids, meta_info }: Answer): number[] | null {
  const paired = meta_info.output_token_logprobs?.map(([, id]) => id) ?? null;
  const alone = output_ids ?? null;
  if (paired === null || alone === null) return paired ?? alone;
  // A matched end token may be left out of the ids alone.
  const agree = alone.length >= paired.length - 1 && alone.every((id, i) => paired[i] === id);
  if (!agree)
    throw new Failure('malformed', 'output_ids and output_token_logprobs hold different tokens', {
      retryable: false,
    });
  return paired;
}
