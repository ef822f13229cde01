import { ConfigError } from '../../core/index.ts';
import { loadPrompt, loadShippedPrompt, type Prompt } from '../../data/index.ts';
import { createChatClient } from '../../remote/index.ts';
import {
  createHttpTeacher,
  createOracleTeacher,
  createTemplateTeacher,
  type HttpTeacherOptions,
  matchRecords,
  readAnswers,
  readImport,
  readReplay,
  recordedTeacher,
  type Teacher,
  type TeachingRecord,
  tokensOfAnswers,
} from '../../teacher/index.ts';
import type { DistillConfig } from './distill-config.ts';

export const KEY_VARIABLE = 'QPONDER_TEACHER_API_KEY';

/** The key for the teacher's address, if the environment holds one. */
export const keyOfTeacher = (): string | undefined => process.env[KEY_VARIABLE] ?? process.env.OPENAI_API_KEY;

const promptOf = (name: string): Promise<Prompt> =>
  name.endsWith('.md') ? loadPrompt(name) : loadShippedPrompt(name);

/** Everything about the questions that needs no connection. */
export async function questionsOf({
  dataset,
  http,
}: DistillConfig): Promise<Omit<HttpTeacherOptions, 'client' | 'seed'>> {
  const prompts: HttpTeacherOptions['prompts'][number][] = [];
  for (const way of http.prompts) {
    const given = typeof way === 'string' ? { prompt: way } : way;
    prompts.push({
      prompt: await promptOf(given.prompt),
      temperature: given.temperature ?? http.temperature,
      topP: given.topP ?? http.topP ?? undefined,
      samples: given.samples ?? http.samples,
    });
  }
  const { guidance, maxTokens, maxPixels } = http;
  return { folder: dataset, prompts, guidance, maxTokens, maxPixels };
}

/** What the budget leaves after what the answers in the output folder have used. */
async function budgetLeft({ output, http }: DistillConfig): Promise<{ cost?: number; tokens?: number }> {
  const { budget, prices } = http;
  if (budget.cost !== null && prices === null) {
    throw new ConfigError('there is a budget of cost and no prices', {
      hint: "give --set 'http.prices={prompt: 1.2, completion: 1.2}' (of a million tokens), or --budget-tokens",
    });
  }
  if (budget.cost === null && budget.tokens === null) return {};
  const spent = tokensOfAnswers(await readAnswers(output));
  return {
    ...(budget.cost === null ? {} : { cost: Math.max(0, budget.cost - (costOf(spent, prices) ?? 0)) }),
    ...(budget.tokens === null
      ? {}
      : { tokens: Math.max(0, budget.tokens - spent.prompt - spent.completion) }),
  };
}

/** Cost of tokens by the prices of a million, null without prices. */
export function costOf(
  tokens: { prompt: number; cachedPrompt: number; completion: number },
  prices: DistillConfig['http']['prices'],
): number | null {
  if (prices === null) return null;
  const { prompt, completion, cachedPrompt = prompt } = prices;
  return (
    ((tokens.prompt - tokens.cachedPrompt) * prompt +
      tokens.cachedPrompt * cachedPrompt +
      tokens.completion * completion) /
    1e6
  );
}

async function httpTeacher(config: DistillConfig, signal: AbortSignal): Promise<Teacher> {
  const { http, concurrency } = config;
  if (http.url === null || http.model === null) {
    throw new ConfigError(`the teacher http has no ${http.url === null ? 'address' : 'model'}`, {
      hint: 'give --teacher-url and --teacher-model, for example http://127.0.0.1:8000/v1 and the name it serves',
    });
  }
  const { prices } = http;
  const client = createChatClient(
    { baseUrl: http.url, model: http.model, apiKey: keyOfTeacher() },
    {
      concurrency,
      timeoutMs: Math.round(1000 * http.timeoutSeconds),
      retries: http.retries,
      requestsPerMinute: http.requestsPerMinute ?? undefined,
      tokensPerMinute: http.tokensPerMinute ?? undefined,
      prices: prices ?? undefined,
      budget: await budgetLeft(config),
      signal,
    },
  );
  return createHttpTeacher({ ...(await questionsOf(config)), client, seed: http.seed });
}

async function recorded(
  config: DistillConfig,
  records: readonly TeachingRecord[],
  note: (line: string) => void,
): Promise<Teacher> {
  const { teacher, from, importScore } = config;
  if (from === null) {
    throw new ConfigError(`the teacher ${teacher} has no file`, {
      hint: 'give --from with recorded answers (replay), or with a file or folder of texts (import)',
    });
  }
  const texts = teacher === 'replay' ? await readReplay(from) : await readImport(from, records, importScore);
  const { without, strangers } = matchRecords(from, texts.texts, records);
  if (without > 0) note(`${without} of ${records.length} images have no text in ${from}`);
  if (strangers > 0) note(`${from} speaks of ${strangers} images that are not among those taught about`);
  return recordedTeacher(texts);
}

/** The teacher that the configuration names. */
export async function teacherOf(
  config: DistillConfig,
  records: readonly TeachingRecord[],
  signal: AbortSignal,
  note: (line: string) => void,
): Promise<Teacher> {
  switch (config.teacher) {
    case 'oracle':
      return createOracleTeacher(config.oracle);
    case 'template':
      return createTemplateTeacher(config.template);
    case 'http':
      return httpTeacher(config, signal);
    case 'replay':
    case 'import':
      return recorded(config, records, note);
  }
}
