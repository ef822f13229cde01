import { createHash } from 'node:crypto';
import { z } from 'zod';
import { sha256OfFile } from '../core/index.ts';
import { type Dataset, type ImageRecord, inParallel } from '../data/index.ts';
import { SCORING_MODES } from '../scoring/index.ts';

const promptSchema = z.strictObject({ id: z.string(), version: z.int(), hash: z.string() });

const readingSchema = z.strictObject({
  mode: z.enum(SCORING_MODES),
  maxNewTokens: z.int(),
  /** The rest decides what is drawn: mode `sampled` only. */
  temperature: z.number().optional(),
  topP: z.number().optional(),
  seed: z.int().optional(),
  samples: z.int().optional(),
  batchSize: z.int().optional(),
});

const modelSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('checkpoint'), sha256: z.string() }),
  z.strictObject({ kind: z.literal('server'), address: z.string(), model: z.string(), maxPixels: z.int() }),
]);

/**
 * What decides the rows of predictions.jsonl. Two runs with one identity give the same rows (a server permitting),
 * so an interrupted one is continued only under the same identity.
 */
export const evaluationIdentitySchema = z.strictObject({
  model: modelSchema,
  prompt: promptSchema,
  reading: readingSchema,
  data: z.strictObject({
    dataset: z.string(),
    split: z.string(),
    n: z.int(),
    /** SHA-256 of the sorted ids, one a line: which images, whatever their scores. */
    splitSha256: z.string(),
    /** SHA-256 of lines "id, MOS, SHA-256 of the image file", in the order of the records. */
    dataSha256: z.string(),
  }),
  codeVersion: z.string(),
});
export type EvaluationIdentity = z.infer<typeof evaluationIdentitySchema>;
export type Reading = EvaluationIdentity['reading'];

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** SHA-256 of the sorted ids, each followed by a line feed: equal for two measurements on the same images. */
export const splitHash = (ids: readonly string[]): string =>
  sha256(
    [...ids]
      .sort()
      .map((id) => `${id}\n`)
      .join(''),
  );

/** SHA-256 of each image file, in order. */
export async function hashImages(
  paths: readonly string[],
  options: { signal?: AbortSignal; onHashed?: (done: number) => void } = {},
): Promise<string[]> {
  const hashes: string[] = new Array(paths.length);
  let done = 0;
  await inParallel(paths.length, 8, async (i) => {
    options.signal?.throwIfAborted();
    hashes[i] = await sha256OfFile(paths[i]!);
    options.onHashed?.(++done);
  });
  return hashes;
}

export function dataIdentity(
  dataset: Pick<Dataset, 'folder'> | string,
  split: string,
  records: readonly ImageRecord[],
  hashes: readonly string[],
): EvaluationIdentity['data'] {
  const lines = records.map(({ id, mos }, i) => `${JSON.stringify([id, mos, hashes[i]])}\n`);
  return {
    dataset: typeof dataset === 'string' ? dataset : dataset.folder,
    split,
    n: records.length,
    splitSha256: splitHash(records.map(({ id }) => id)),
    dataSha256: sha256(lines.join('')),
  };
}

/** A short name of a reading for folders and tables: `greedy`, `sampled`, `sampled-x5`. */
export const readingName = ({ mode, samples = 1 }: Pick<Reading, 'mode' | 'samples'>): string =>
  samples > 1 ? `${mode}-x${samples}` : mode;
