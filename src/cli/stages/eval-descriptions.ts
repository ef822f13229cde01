import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError, RemoteError, writeFileAtomic } from '../../core/index.ts';
import { loadDataset, loadPrompt, loadShippedPrompt, type Prompt } from '../../data/index.ts';
import {
  agreementTable,
  type DescriptionSet,
  descriptionTable,
  gradeTable,
  type Judging,
  judgeAgreement,
  judgeDescriptions,
  loadDescriptions,
  measureDescriptions,
  pairTable,
  summarizeGrades,
  summarizePairs,
  withTruth,
} from '../../evaluate/index.ts';
import { createChatClient } from '../../remote/index.ts';
import type { Stage, StageContext } from '../stage-command.ts';

const judgeSchema = z.strictObject({
  urls: z
    .array(z.string().min(1))
    .max(2)
    .default([])
    .describe('addresses up to /v1, one per judge; none: no judging'),
  models: z.array(z.string().min(1)).max(2).default([]).describe('model of each judge'),
  pair: z.boolean().default(false).describe('compare two files instead of grading each alone'),
  prompt: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'shipped prompt or path of a .md file; null for judge/description.v2, or judge/pair.v1 for pairs',
    ),
  highest: z.int().min(1).max(100).default(10).describe('best grade: 2 and 10 are usual'),
  samples: z.int().min(1).max(100).default(1).describe('replies about each description (and order)'),
  temperature: z.number().min(0).max(2).default(0),
  maxTokens: z.int().positive().default(512),
  pictures: z.boolean().default(false).describe('show the judge the pictures too'),
  limit: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('judge the first so many descriptions of each file'),
  concurrency: z.int().min(1).max(1024).default(8),
  timeoutSeconds: z.number().positive().max(86_400).default(120),
  retries: z.int().min(0).default(5),
  requestsPerMinute: z.int().positive().nullable().default(null),
  tokensPerMinute: z.int().positive().nullable().default(null),
  budgetTokens: z.int().positive().nullable().default(null).describe('tokens that each judge may cost'),
});

export const evalDescriptionsConfigSchema = z.strictObject({
  files: z
    .array(z.string().min(1))
    .min(1)
    .describe('predictions.jsonl, or descriptions as JSON Lines or JSON'),
  names: z
    .array(z.string().min(1))
    .nullable()
    .default(null)
    .describe('a name for each file; null for the file names'),
  models: z
    .array(z.string().min(1))
    .nullable()
    .default(null)
    .describe('the model that wrote each file: a judge of the same model is flagged'),
  dataset: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('data set folder that knows the truth about the ids'),
  vocabulary: z
    .enum(['lexicon', 'free'])
    .default('lexicon')
    .describe("words that name a distortion: this product's own, or anybody's, by families of types"),
  resamples: z.int().min(100).default(1000).describe('bootstrap resamples'),
  seed: z.int().min(0).default(0).describe('of the bootstrap and of the judge'),
  judge: judgeSchema.prefault({}),
  output: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("folder for descriptions.json and the judges' replies"),
});
export type EvalDescriptionsConfig = z.infer<typeof evalDescriptionsConfigSchema>;

/** Keys come from the environment alone. The second judge may have one of its own. */
function keyOfJudge(at: number): string | undefined {
  const { env } = process;
  const own = at === 1 ? env.QPONDER_JUDGE2_API_KEY : undefined;
  return own ?? env.QPONDER_JUDGE_API_KEY ?? env.OPENAI_API_KEY;
}

/** The shortest ends of the paths that tell them apart. */
function namesOf(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split(/[\\/]/));
  const longest = Math.max(...parts.map(({ length }) => length));
  for (let length = 1; length < longest; length++) {
    const names = parts.map((part) => part.slice(-length).join('/'));
    if (new Set(names).size === names.length) return names;
  }
  return [...paths];
}

async function loadSets({
  files,
  names,
  models,
  dataset,
}: EvalDescriptionsConfig): Promise<DescriptionSet[]> {
  for (const [what, list] of [
    ['names', names],
    ['models', models],
  ] as const) {
    if (list !== null && list.length !== files.length) {
      throw new ConfigError(`there are ${list.length} ${what} for ${files.length} file(s)`, {
        hint: `give --${what} once, followed by one word for each file`,
      });
    }
  }
  const records = dataset === null ? null : (await loadDataset(dataset)).records;
  const labels = names ?? namesOf(files);
  return Promise.all(
    files.map(async (file, at) => {
      const descriptions = await loadDescriptions(file);
      return {
        name: labels[at] ?? file,
        model: models?.[at],
        descriptions: records === null ? descriptions : withTruth(descriptions, records),
      };
    }),
  );
}

function judgesOf({ urls, models }: EvalDescriptionsConfig['judge']): { url: string; model: string }[] {
  if (urls.length === 0 && models.length === 0) return [];
  if (models.length === 0 || urls.length === 0 || (urls.length > 1 && urls.length !== models.length)) {
    throw new ConfigError(`there are ${urls.length} judge address(es) and ${models.length} judge model(s)`, {
      hint: 'give --judge-url and --judge-model, one address for all models or one for each',
    });
  }
  return models.map((model, at) => ({ model, url: urls[at] ?? (urls[0] as string) }));
}

const promptOf = (name: string | null, pair: boolean): Promise<Prompt> => {
  if (name?.endsWith('.md')) return loadPrompt(name);
  return loadShippedPrompt(name ?? (pair ? 'judge/pair.v1' : 'judge/description.v2'));
};

async function judgeAll(
  sets: readonly DescriptionSet[],
  config: EvalDescriptionsConfig,
  { signal, progress }: StageContext,
): Promise<Judging[]> {
  const { judge } = config;
  const prompt = await promptOf(judge.prompt, judge.pair);
  const limited = sets.map((set) => ({
    ...set,
    descriptions: set.descriptions.slice(0, judge.limit ?? undefined),
  }));
  const judgings: Judging[] = [];
  for (const [at, { url, model }] of judgesOf(judge).entries()) {
    const client = createChatClient(
      { baseUrl: url, model, apiKey: keyOfJudge(at) },
      {
        concurrency: judge.concurrency,
        timeoutMs: Math.round(1000 * judge.timeoutSeconds),
        retries: judge.retries,
        requestsPerMinute: judge.requestsPerMinute ?? undefined,
        tokensPerMinute: judge.tokensPerMinute ?? undefined,
        budget: { tokens: judge.budgetTokens ?? undefined },
        signal,
      },
    );
    const judging = await judgeDescriptions(limited, client, {
      mode: judge.pair ? 'pair' : 'grade',
      highest: judge.highest,
      samples: judge.samples,
      temperature: judge.temperature,
      maxTokens: judge.maxTokens,
      seed: config.seed,
      pictures: judge.pictures ? (config.dataset ?? '.') : null,
      prompt,
      concurrency: judge.concurrency,
      folder: config.output === null ? null : join(config.output, `judge-${at + 1}`),
      progress,
    });
    judgings.push(judging);
  }
  return judgings;
}

/** Results of the judges, printed and for the file. */
function reportJudges(
  judgings: readonly Judging[],
  config: EvalDescriptionsConfig,
  print: (line: string) => void,
): object {
  const options = { seed: config.seed, resamples: config.resamples };
  const identities = judgings.map(({ identity, kept, asked, judgements, failed, usage }) => {
    const missing = asked - judgements.length;
    const { id, version, hash } = identity.prompt;
    print(
      `judge ${identity.judge.model}: ${judgements.length} of ${asked} replies (${kept} from before, ${missing} missing), prompt ${id}.v${version} ${hash.slice(0, 12)}`,
    );
    const { promptTokens, completionTokens, requests, retries } = usage;
    print(
      `  this time: ${requests} requests (${retries} retries), ${promptTokens} prompt and ${completionTokens} completion tokens`,
    );
    return { ...identity, asked, missing, failed, usage };
  });
  if (config.judge.pair) {
    const pairs = judgings.map((judging) => summarizePairs(judging, options));
    print(pairTable(pairs));
    return { judgings: identities, pairs };
  }
  const grades = judgings.flatMap((judging) => summarizeGrades(judging, options));
  print(gradeTable(grades, config.judge.highest));
  const [first, second] = judgings;
  const agreement = first === undefined || second === undefined ? [] : judgeAgreement(first, second, options);
  if (agreement.length > 0) print(agreementTable(agreement));
  return { judgings: identities, grades, agreement };
}

/** What is missing is an error, after everything that is there was printed and written. */
function requireWhole(judgings: readonly Judging[]): void {
  for (const { stoppedBy, firstFailure, failed, asked, judgements, identity } of judgings) {
    const missing = asked - judgements.length;
    if (missing === 0) continue;
    const reasons = Object.entries(failed).map(([reason, count]) => `${reason} ${count}`);
    throw new RemoteError(
      `the judge ${identity.judge.model} gave no reply to ${missing} of ${asked} questions (${reasons.join(', ')})${stoppedBy !== null ? `; stopped by: ${stoppedBy.message}` : firstFailure === null ? '' : `; the first: ${firstFailure.message}`}`,
      {
        reason: (stoppedBy ?? firstFailure)?.reason ?? 'server',
        status: stoppedBy?.status,
        hint: stoppedBy?.hint ?? 'with --out, the same command asks only the missing ones again',
      },
    );
  }
}

export const evalDescriptionsStage: Stage<EvalDescriptionsConfig> = {
  schema: evalDescriptionsConfigSchema,
  async run(config, context) {
    const sets = await loadSets(config);
    const judges = judgesOf(config.judge);
    const { seed, resamples, vocabulary } = config;
    const measureOptions = { seed, resamples, vocabulary };
    const measured = sets.map(({ name, descriptions }) => ({
      name,
      summary: measureDescriptions(descriptions, measureOptions),
    }));
    context.print(descriptionTable(measured));
    const judgings = judges.length === 0 ? [] : await judgeAll(sets, config, context);
    const judged = judgings.length === 0 ? null : reportJudges(judgings, config, context.print);
    if (config.output !== null) {
      const path = join(config.output, 'descriptions.json');
      const report = { config, sets: measured, judged };
      await writeFileAtomic(path, `${JSON.stringify(report, null, 2)}\n`);
      context.print(`written to ${path}`);
    }
    requireWhole(judgings);
  },
};
