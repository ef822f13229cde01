import { z } from 'zod';
import { ConfigError } from '../../core/index.ts';
import {
  checkpointAnswerer,
  type EvaluatedModel,
  serverAnswerer,
  serverPrompt,
} from '../../evaluate/index.ts';
import { readSeenImages, requireModelFolder, weightsSha256 } from '../../model/index.ts';
import { createChatClient } from '../../remote/index.ts';
import { createScorer } from '../../scoring/index.ts';
import type { StageContext } from '../stage-command.ts';
import { startFor } from './engine.ts';

/** Settings for models behind an address. */
export const serverSettings = z
  .strictObject({
    model: z.string().min(1).nullable().default(null).describe('name of the model to ask'),
    keyVariable: z.string().min(1).default('OPENAI_API_KEY').describe('environment variable with the key'),
    concurrency: z.int().min(1).max(1024).default(8).describe('requests at the same time'),
    timeoutMs: z.int().positive().max(300_000).default(120_000),
    retries: z.int().min(0).max(100).default(5),
    maxNewTokens: z.int().positive().default(512),
    maxPixels: z
      .int()
      .positive()
      .default(1_003_520)
      .describe('larger pictures are scaled down before they are sent'),
  })
  .prefault({});

export interface ModelSettings {
  model: readonly string[];
  prompt: string;
  batchSize: number;
  server: z.infer<typeof serverSettings>;
}

export const isAddress = (model: string): boolean => /^https?:\/\//i.test(model);

/** Checkpoints and servers, checked as far as that is quick; the engine starts for the first checkpoint. */
export async function evaluatedModels(
  settings: ModelSettings,
  context: StageContext,
): Promise<EvaluatedModel[]> {
  const labels = labelsOf(settings.model);
  const models: EvaluatedModel[] = [];
  let engine: Promise<unknown> | undefined;
  for (const [i, model] of settings.model.entries()) {
    if (isAddress(model)) {
      models.push(serverModel(model, labels[i]!, settings, context));
      continue;
    }
    await requireModelFolder(model);
    models.push({
      label: labels[i]!,
      source: model,
      trainingImages: await readSeenImages(model),
      open: async () => {
        engine ??= startFor(context);
        await engine;
        const scorer = await createScorer({ model, prompt: settings.prompt });
        const sha256 = scorer.provenance.modelSha256 ?? (await weightsSha256(model));
        return {
          answerer: checkpointAnswerer(scorer, { sha256, batchSize: settings.batchSize }),
          close: () => scorer.close(),
        };
      },
    });
  }
  return models;
}

/** An address may name its model behind #; several servers can then be measured at once. */
function serverModel(
  address: string,
  label: string,
  { server }: ModelSettings,
  { signal }: StageContext,
): EvaluatedModel {
  const [baseUrl = address, name = server.model ?? ''] = address.split('#');
  if (name === '') {
    throw new ConfigError(`${address} is an address, and which model to ask there is not given`, {
      hint: 'give --set server.model=NAME, or write the address as http://host/v1#NAME',
    });
  }
  const apiKey = process.env[server.keyVariable];
  const client = createChatClient(
    { baseUrl, model: name, ...(apiKey === undefined ? {} : { apiKey }) },
    { concurrency: server.concurrency, timeoutMs: server.timeoutMs, retries: server.retries, signal },
  );
  return {
    label,
    source: `${name} at ${client.address}`,
    trainingImages: undefined,
    maxNewTokens: server.maxNewTokens,
    open: async () => ({
      answerer: serverAnswerer(await serverPrompt(), {
        client,
        concurrency: server.concurrency,
        maxPixels: server.maxPixels,
      }),
      close: () => undefined,
    }),
  };
}

const cleaned = (text: string): string => text.replace(/[^\w.-]+/g, '-').replace(/^[-.]+|-+$/g, '');

/** Names for tables and folders: the last parts of the paths, as many as it takes to tell them apart. */
export function labelsOf(models: readonly string[]): string[] {
  const parts = models.map((model) => {
    if (isAddress(model)) return [cleaned(model.split('#')[1] ?? model.replace(/^https?:\/\//i, ''))];
    const names = model.split(/[/\\]/).filter((name) => name !== '' && name !== '.');
    return names.at(-1) === 'model' && names.length > 1 ? names.slice(0, -1) : names;
  });
  const most = Math.max(1, ...parts.map(({ length }) => length));
  for (let kept = 1; kept <= most; kept++) {
    const labels = parts.map((names) => cleaned(names.slice(-kept).join('-')) || 'model');
    if (new Set([...labels, 'baselines']).size === labels.length + 1) return labels;
  }
  throw new ConfigError(`of the models ${models.join(', ')}, two are the same`, {
    hint: 'give each model once',
  });
}
