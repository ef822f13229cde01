import { dirname, join } from 'node:path';
import { z } from 'zod';
import { textIfPresent } from '../core/index.ts';
import { type EvaluationIdentity, evaluationIdentitySchema } from './run-identity.ts';
import { IDENTITY_FILE } from './run-rows.ts';

/** How predictions of our own were made, from the files beside them. Null where those do not say. */
export interface RunProvenance {
  /** The predictions. */
  file: string;
  /** The file that says it: evaluation.json, or the summary.json of an older run. */
  source: string;
  dataset: string | null;
  split: string | null;
  /** SHA-256 of the ids of the split. */
  splitHash: string | null;
  /** SHA-256 of ids, MOS and image files. */
  dataHash: string | null;
  prompt: string | null;
  promptHash: string | null;
  /** Folder of the checkpoint, or address and name of a served model. */
  model: string | null;
  /** SHA-256 of the checkpoint's weights. */
  checkpointHash: string | null;
  /** Mode and what it depends on, for example "sampled, temperature 1, seed 0". */
  sampling: string | null;
  /** Version of the code that made the predictions. */
  codeVersion: string | null;
}

const summarySchema = z.looseObject({
  provenance: z.looseObject({
    model: z.string().nullish(),
    modelSha256: z.string().nullish(),
    prompt: z.looseObject({ id: z.string(), hash: z.string() }).nullish(),
    mode: z.string().nullish(),
    dataset: z.string().nullish(),
    split: z.string().nullish(),
    splitSha256: z.string().nullish(),
    dataSha256: z.string().nullish(),
    codeVersion: z.string().nullish(),
    leakage: z.looseObject({ checked: z.number(), leaked: z.number() }).nullish(),
    config: z.looseObject({ temperature: z.number().nullish(), seed: z.number().nullish() }).nullish(),
  }),
  summary: z.looseObject({ n: z.number() }).nullish(),
});
type SummaryFile = z.infer<typeof summarySchema>;

/** What is known of a file of predictions with so many rows, and sentences about what is not. */
export async function readProvenance(
  file: string,
  rows: number,
): Promise<{ run: RunProvenance | null; notices: string[] }> {
  const folder = dirname(file);
  const notices: string[] = [];
  const identityPath = join(folder, IDENTITY_FILE);
  const summaryPath = join(folder, 'summary.json');
  const identity = await readJson(identityPath, evaluationIdentitySchema);
  const summary = await readJson(summaryPath, summarySchema);
  for (const found of [identity, summary]) if (typeof found === 'string') notices.push(found);
  const known = typeof identity === 'object' && identity !== null;
  const summed = typeof summary === 'object' && summary !== null;
  const expected = known ? identity.data.n : summed ? summary.summary?.n : undefined;
  const source = known ? identityPath : summaryPath;
  if (expected !== undefined && expected !== rows) {
    notices.push(
      `${source} tells of ${expected} images, ${file} has ${rows} rows: not of one run, or unfinished`,
    );
  }
  const leakage = summed ? summary.provenance.leakage : null;
  if (leakage != null && leakage.leaked > 0) {
    notices.push(
      `${file}: ${leakage.leaked} of ${leakage.checked} images were in the training data of the model`,
    );
  }
  if (known) {
    const model = summed ? (summary.provenance.model ?? null) : null;
    return { run: fromIdentity(file, source, identity, model), notices };
  }
  if (summed) return { run: fromSummary(file, source, summary), notices };
  notices.push(`${file}: neither ${IDENTITY_FILE} nor summary.json says how it was made`);
  return { run: null, notices };
}

/** The content, null where there is no such file, or a sentence why it is of no use. */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | string | null> {
  const text = await textIfPresent(path);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    return error instanceof SyntaxError
      ? `${path} is not JSON and was not used: it may have been cut`
      : `${path} was not written by "q-ponder eval run" and was not used`;
  }
}

function fromIdentity(
  file: string,
  source: string,
  { model, prompt, reading, data, codeVersion }: EvaluationIdentity,
  folder: string | null,
): RunProvenance {
  const { mode, ...rest } = reading;
  return {
    ...{ file, source, codeVersion },
    ...{ dataset: data.dataset, split: data.split, splitHash: data.splitSha256, dataHash: data.dataSha256 },
    ...{ prompt: prompt.id, promptHash: prompt.hash },
    model: model.kind === 'server' ? `${model.model} at ${model.address}` : folder,
    checkpointHash: model.kind === 'checkpoint' ? model.sha256 : null,
    sampling: samplingText(mode, rest),
  };
}

function fromSummary(file: string, source: string, { provenance }: SummaryFile): RunProvenance {
  const { mode, prompt, config } = provenance;
  const sampled = mode === 'sampled' ? { temperature: config?.temperature, seed: config?.seed } : {};
  return {
    ...{ file, source },
    codeVersion: provenance.codeVersion ?? null,
    splitHash: provenance.splitSha256 ?? null,
    dataHash: provenance.dataSha256 ?? null,
    dataset: provenance.dataset ?? null,
    split: provenance.split ?? null,
    prompt: prompt?.id ?? null,
    promptHash: prompt?.hash ?? null,
    model: provenance.model ?? null,
    checkpointHash: provenance.modelSha256 ?? null,
    sampling: mode == null ? null : samplingText(mode, sampled),
  };
}

const samplingText = (mode: string, settings: object): string =>
  [
    mode,
    ...Object.entries(settings).flatMap(([name, value]) =>
      value == null ? [] : [`${name} ${String(value)}`],
    ),
  ].join(', ');
