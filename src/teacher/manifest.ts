import { join } from 'node:path';
import { z } from 'zod';
import { sha256OfFile, writeFileAtomic } from '../core/index.ts';
import type { Distillation } from './distill.ts';
import { type DistillIdentity, distillIdentitySchema } from './distill-identity.ts';
import { filterConfigSchema } from './filter-config.ts';
import { selectionSchema } from './select.ts';

export const MANIFEST_FILE = 'manifest.json';

const fileSchema = z.strictObject({ rows: z.int().min(0), sha256: z.string() });

/** What a distilled set is made of: enough to make it again, and to tell it from another. */
export const distillManifestSchema = z.strictObject({
  format: z.literal('q-ponder distilled answers'),
  formatVersion: z.literal(1),
  codeVersion: z.string(),
  /** Every place for an answer has one. */
  complete: z.boolean(),
  teacher: distillIdentitySchema.shape.teacher,
  /** The prompt that the rows answer. The teacher's own prompts, with hashes and sampling, are in its settings. */
  prompt: z.strictObject({ id: z.string(), version: z.int(), hash: z.string() }),
  data: z.strictObject({
    dataset: z.string(),
    splits: z.array(z.string()),
    images: z.int(),
    /** SHA-256 of lines [id, image, MOS, distortions]. */
    sha256: z.string(),
  }),
  filters: filterConfigSchema,
  selection: selectionSchema,
  retryRejected: z.int(),
  counts: z.strictObject({
    asked: z.int(),
    answers: z.int(),
    missing: z.int(),
    accepted: z.int(),
    selected: z.int(),
    rejected: z.int(),
  }),
  usage: z.strictObject({
    promptTokens: z.number(),
    cachedPromptTokens: z.number(),
    completionTokens: z.number(),
    answersWithoutUsage: z.int(),
    /** By the prices given, null without. Failed tries, which no server reports, are not in it. */
    cost: z.number().nullable(),
  }),
  files: z.record(z.string(), fileSchema),
});
export type DistillManifest = z.infer<typeof distillManifestSchema>;

/** Writes manifest.json beside the rows, with the hash of each file as it lies on the disk. */
export async function writeManifest(
  folder: string,
  made: Distillation,
  about: {
    identity: DistillIdentity;
    dataset: string;
    splits: readonly string[];
    codeVersion: string;
    retryRejected: number;
    cost: number | null;
  },
): Promise<DistillManifest> {
  const { report, rows, rejected, unselected } = made;
  const { keep, perImage, selected } = report.selection;
  const files: DistillManifest['files'] = {};
  const written = { 'accepted.jsonl': rows, 'rejected.jsonl': rejected };
  for (const [name, list] of Object.entries(
    keep === 'all' ? written : { ...written, 'unselected.jsonl': unselected },
  )) {
    files[name] = { rows: list.length, sha256: await sha256OfFile(join(folder, name)) };
  }
  const manifest: DistillManifest = {
    format: 'q-ponder distilled answers',
    formatVersion: 1,
    codeVersion: about.codeVersion,
    complete: report.missing === 0,
    teacher: about.identity.teacher,
    prompt: report.prompt,
    data: { dataset: about.dataset, splits: [...about.splits], ...about.identity.data },
    filters: report.filters,
    selection: { keep, perImage },
    retryRejected: about.retryRejected,
    counts: {
      asked: report.asked,
      answers: report.answers,
      missing: report.missing,
      accepted: report.accepted,
      selected,
      rejected: report.rejected,
    },
    usage: {
      promptTokens: report.tokens.prompt,
      cachedPromptTokens: report.tokens.cachedPrompt,
      completionTokens: report.tokens.completion,
      answersWithoutUsage: report.tokens.uncounted,
      cost: about.cost,
    },
    files,
  };
  await writeFileAtomic(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
