import { z } from 'zod';
import { GateError, InputError, type RgbImage, StorageError } from '../../core/index.ts';
import { decodeImage } from '../../data/index.ts';
import { createScorer, type Scorer } from '../../scoring/index.ts';
import type { Stage, StageContext } from '../stage-command.ts';
import { defaultModel } from './default-model.ts';
import { startFor } from './engine.ts';
import { type ImageFile, imageFiles } from './image-files.ts';
import { jsonRow, type Row, textLines, worstFirst } from './score-rows.ts';

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
/** Pictures in memory at their full size: one of a camera takes more than a whole batch at the model's size. */
const DECODED_AT_ONCE = 4;

export const scoreStage: Stage<ScoreConfig> = {
  schema: scoreConfigSchema,
  async run(config, context) {
    const files = await imageFiles(config.images, (line) => context.progress.note(line));
    const print = printer(config, context);
    if (files.every(({ problem }) => problem !== null)) {
      const rows = files.map((file): Row => ({ ...file, result: null }));
      print.rows(rows);
      print.end();
      finish(rows, config);
      return;
    }
    const folder = config.model ?? (await defaultModel());
    await startFor(context);
    const scorer = await createScorer({ model: folder, mode: config.mode, prompt: config.prompt });
    context.progress.note(`model: ${folder}`);
    context.progress.start('score', files.length);
    const rows: Row[] = [];
    try {
      for (let at = 0; at < files.length; at += BATCH) {
        context.signal.throwIfAborted();
        const scored = await scoreFiles(files.slice(at, at + BATCH), scorer, config, context);
        rows.push(...scored);
        print.rows(scored);
        context.progress.update(rows.length);
      }
    } finally {
      // What is done stands, whatever stopped the rest.
      context.progress.stop();
      print.end();
      scorer.close();
    }
    finish(rows, config);
  },
};

async function scoreFiles(
  files: readonly ImageFile[],
  scorer: Scorer,
  config: ScoreConfig,
  { signal }: StageContext,
): Promise<Row[]> {
  const opened: OpenedImage[] = [];
  for (let at = 0; at < files.length; at += DECODED_AT_ONCE) {
    signal.throwIfAborted();
    const part = files.slice(at, at + DECODED_AT_ONCE);
    opened.push(...(await Promise.all(part.map((file) => openImage(file, scorer)))));
  }
  const readable = opened.flatMap(({ image }) => (image === null ? [] : [image]));
  const results = await scorer.scoreBatch(readable, {
    seed: config.seed,
    maxNewTokens: config.maxNewTokens,
    signal,
  });
  return opened.map(({ file, image, problem }) => ({
    file,
    problem,
    result: image === null ? null : results.shift()!,
  }));
}

interface OpenedImage extends ImageFile {
  image: RgbImage | null;
}

async function openImage({ file, problem }: ImageFile, scorer: Scorer): Promise<OpenedImage> {
  if (problem !== null) return { file, image: null, problem };
  try {
    return { file, image: scorer.shrink(await decodeImage(file)), problem: null };
  } catch (error) {
    // One broken file must not cost the others their score: it is listed, and the exit code says so.
    if (!(error instanceof InputError || error instanceof StorageError)) throw error;
    return { file, image: null, problem: error.message };
  }
}

/** JSON rows go out as they come; the list for people is sorted, so it goes out at the end, however it comes. */
function printer({ json }: ScoreConfig, { print }: StageContext) {
  const held: Row[] = [];
  return {
    rows(rows: readonly Row[]): void {
      if (!json) held.push(...rows);
      else for (const row of rows) print(JSON.stringify(jsonRow(row)));
    },
    end(): void {
      for (const row of worstFirst(held)) for (const line of textLines(row)) print(line);
    },
  };
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
