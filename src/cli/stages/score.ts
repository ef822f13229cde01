import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asStorageError, GateError, InputError, type RgbImage, StorageError } from '../../core/index.ts';
import { decodeImage } from '../../data/index.ts';
import { createScorer, type ScoreResult, type Scorer } from '../../scoring/index.ts';
import type { Stage, StageContext } from '../stage-command.ts';
import { defaultModel } from './default-model.ts';
import { startFor } from './engine.ts';

export const scoreConfigSchema = z.strictObject({
  images: z.array(z.string().min(1)).min(1).describe('image files, or folders of them'),
  model: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('checkpoint folder; the latest demo model if not given'),
  mode: z.enum(['greedy', 'expected', 'sampled']).default('expected'),
  prompt: z.string().min(1).default('student/quality.v1'),
  seed: z.int().min(0).default(0),
  maxNewTokens: z.int().positive().default(96),
  json: z.boolean().default(false).describe('one JSON object per image'),
  minScore: z.number().min(1).max(5).nullable().default(null).describe('fail when an image scores lower'),
});
export type ScoreConfig = z.infer<typeof scoreConfigSchema>;

const BATCH = 32;
const IMAGE_FILE = /\.(jpe?g|png|webp|tiff?|gif|avif|heif|heic|bmp)$/i;

interface Row {
  file: string;
  /** Null where the file is no usable image. */
  result: ScoreResult | null;
  problem: string | null;
}

export const scoreStage: Stage<ScoreConfig> = {
  schema: scoreConfigSchema,
  async run(config, context) {
    const files = await imageFiles(config.images);
    const folder = config.model ?? (await defaultModel());
    await startFor(context);
    const scorer = await createScorer({ model: folder, mode: config.mode, prompt: config.prompt });
    context.progress.note(`model: ${folder}`);
    context.progress.start('score', files.length);
    const rows: Row[] = [];
    for (let at = 0; at < files.length; at += BATCH) {
      context.signal.throwIfAborted();
      const part = await Promise.all(files.slice(at, at + BATCH).map((file) => openImage(file, scorer)));
      const readable = part.flatMap(({ image }) => (image === null ? [] : [image]));
      const results = await scorer.scoreBatch(readable, {
        seed: config.seed,
        maxNewTokens: config.maxNewTokens,
        signal: context.signal,
      });
      for (const { file, image, problem } of part) {
        rows.push({ file, problem, result: image === null ? null : results.shift()! });
      }
      context.progress.update(rows.length);
    }
    context.progress.stop();
    scorer.close();
    printRows(rows, config, context);
    finish(rows, config);
  },
};

async function openImage(
  file: string,
  scorer: Scorer,
): Promise<{ file: string; image: RgbImage | null; problem: string | null }> {
  try {
    const image = await decodeImage(file);
    scorer.requireScorable(image);
    return { file, image, problem: null };
  } catch (error) {
    // One broken file must not cost the others their score: it is listed, and the exit code says so.
    if (!(error instanceof InputError || error instanceof StorageError)) throw error;
    return { file, image: null, problem: error.message };
  }
}

async function imageFiles(inputs: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const input of inputs) {
    try {
      if (!(await stat(input)).isDirectory()) {
        files.push(input);
        continue;
      }
      const names = (await readdir(input)).filter((name) => IMAGE_FILE.test(name)).sort();
      if (names.length === 0) {
        throw new InputError(`${input} holds no image file`, {
          hint: 'looked for jpg, png, webp, tiff, gif, avif, heif and bmp',
        });
      }
      files.push(...names.map((name) => join(input, name)));
    } catch (error) {
      throw asStorageError(error, `opening ${input}`);
    }
  }
  return files;
}

function printRows(rows: readonly Row[], config: ScoreConfig, { print }: StageContext): void {
  if (config.json) {
    for (const { file, result, problem } of rows)
      print(JSON.stringify({ file, ...(result ?? { status: 'unreadable', score: null, problem }) }));
    return;
  }
  const worstFirst = [...rows].sort((a, b) => (a.result?.score ?? 0) - (b.result?.score ?? 0));
  for (const { file, result, problem } of worstFirst) {
    if (result === null) print(`   -  unreadable  ${file}: ${problem}`);
    else if (result.score === null) print(`   -  ${result.status}  ${file}: ${result.text}`);
    else {
      const spread = result.std === undefined ? '' : ` +-${result.std.toFixed(2)}`;
      print(`${result.score.toFixed(2)}${spread}  ${result.level}  ${file}`);
      if (result.reasoning !== null) print(`      ${result.reasoning}`);
    }
  }
}

function finish(rows: readonly Row[], { minScore }: ScoreConfig): void {
  const low =
    minScore === null ? [] : rows.filter(({ result }) => result?.score != null && result.score < minScore);
  const unscored = rows.filter(({ result }) => result === null || result.score === null);
  if (unscored.length > 0) {
    throw new InputError(
      `${unscored.length} of ${rows.length} images have no score: ${unscored
        .slice(0, 5)
        .map(({ file }) => file)
        .join(', ')}`,
      {
        hint: 'the lines above say why; the other scores stand',
      },
    );
  }
  if (low.length > 0) throw new GateError(`${low.length} of ${rows.length} images score below ${minScore}`);
}
