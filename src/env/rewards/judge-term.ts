import { ConfigError, levelOfScore, QPonderError, RemoteError } from '../../core/index.ts';
import {
  DISTORTION_WORDS,
  loadPrompt,
  loadShippedPrompt,
  type Prompt,
  renderPrompt,
  SEVERITY_WORDS,
} from '../../data/index.ts';
import { type ChatPart, createChatClient } from '../../remote/index.ts';
import { type Caller, CallFailure } from './call.ts';
import type { JudgeTermConfig } from './config.ts';
import { readGrades } from './grades.ts';
import type { RewardSample, RewardTermsContext } from './types.ts';

const SLOTS = ['truth', 'description', 'highest', 'question'];
const RETRYABLE: readonly string[] = ['unreachable', 'timeout', 'rate-limit', 'server', 'malformed', 'empty'];
const STALLED: readonly string[] = ['unreachable', 'timeout', 'server'];

async function promptOf(name: string): Promise<Prompt> {
  const prompt = name.endsWith('.md') ? await loadPrompt(name) : await loadShippedPrompt(name);
  const other = prompt.slots.filter((slot) => !SLOTS.includes(slot));
  if (other.length > 0 || !prompt.slots.includes('description')) {
    throw new ConfigError(`the judge prompt ${name} has the slots ${prompt.slots.join(', ') || '(none)'}`, {
      hint: `description is needed, allowed are ${SLOTS.join(', ')}`,
    });
  }
  return prompt;
}

/** What the judge is told about the picture. */
function truthOf({ mos, distortions }: RewardSample, withPicture: boolean): string {
  const lines = [
    `Viewers rate it ${mos.toFixed(2)} on a scale from 1 (bad) to 5 (excellent): ${levelOfScore(mos)}.`,
  ];
  if (distortions !== null) {
    const named = distortions.map(({ type, level }) => {
      const [name] = DISTORTION_WORDS[type].phrases;
      return level === undefined ? name : `${SEVERITY_WORDS[level]} ${name}`;
    });
    lines.unshift(
      named.length === 0
        ? 'The picture has no distortion.'
        : `Distortions in the picture, and no others: ${named.join(', ')}.`,
    );
  }
  if (withPicture) lines.push('You see the picture itself.');
  return lines.join('\n');
}

/** The line that ends the description in the prompt must not be the description's own. */
const withoutRules = (text: string): string => text.replaceAll(/-{3,}/g, '--');

/**
 * A model that grades each completion. Its reward is the mean of the grades over the best grade, in [0, 1]. The judge
 * reads what the model wrote, which was trained to please it: what it grades is never more than text between two lines.
 */
export async function createJudgeCaller(
  config: JudgeTermConfig,
  { pictureUrl, signal }: RewardTermsContext,
  apiKey: string | undefined,
): Promise<Caller> {
  const { name, url, model, highest, fields, temperature, maxTokens, seed, budgetTokens } = config;
  if (config.pictures && pictureUrl === undefined) {
    throw new ConfigError(`the judge ${name} is to see pictures, but nothing can send them`, {
      hint: 'pass pictureUrl, or set pictures to false',
    });
  }
  const prompt = await promptOf(config.prompt);
  const milliseconds = Math.ceil(1000 * config.deadlineSeconds);
  const stop = new AbortController();
  const client = createChatClient(
    { baseUrl: url, model, apiKey },
    {
      concurrency: config.concurrency,
      timeoutMs: milliseconds,
      // Tried again by whoever calls, so that every kind of term counts its tries alike.
      retries: 0,
      maxRetryAfterMs: milliseconds,
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
      ...(budgetTokens === null ? {} : { budget: { tokens: budgetTokens } }),
    },
  );

  async function question(sample: RewardSample): Promise<string | ChatPart[]> {
    const values: Record<string, string> = {
      truth: truthOf(sample, config.pictures),
      description: withoutRules(sample.reasoning ?? sample.completion),
      highest: String(highest),
      question: sample.prompt,
    };
    const used = Object.fromEntries(prompt.slots.map((slot) => [slot, values[slot] as string]));
    const { text } = renderPrompt(prompt, used);
    if (!config.pictures || pictureUrl === undefined) return text;
    return [
      { type: 'image', url: await pictureUrl(sample.image) },
      { type: 'text', text },
    ];
  }

  return {
    batchSize: 1,
    async call([sample], attempt) {
      if (sample === undefined) return [];
      let reply: string;
      try {
        const content = await question(sample);
        const [answer] = await client.ask({
          messages: [{ role: 'user', content }],
          temperature,
          maxTokens,
          // The same seed would repeat the reply that could not be read.
          seed: seed + attempt,
        });
        reply = answer?.text ?? '';
      } catch (error) {
        if (!(error instanceof QPonderError)) throw error;
        const reason = error instanceof RemoteError ? error.reason : undefined;
        throw new CallFailure(error.message, {
          kind: reason === 'timeout' ? 'timeout' : 'error',
          retryable: reason !== undefined && RETRYABLE.includes(reason),
          stalled: reason !== undefined && STALLED.includes(reason),
        });
      }
      const grades = readGrades(reply, fields, highest);
      if ('problem' in grades) throw new CallFailure(`the judge's reply: ${grades.problem}`);
      const sum = grades.values.reduce((total, grade) => total + grade, 0);
      return [sum / grades.values.length / highest];
    },
    async close() {
      stop.abort(new Error('the reward terms are closed'));
    },
  };
}
