import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { ConfigError, GateError, InputError, type QPonderError } from '../../core/index.ts';
import { createScorer, type Scorer } from '../../scoring/index.ts';
import type { Stage, StageContext } from '../stage-command.ts';
import { defaultModel } from './default-model.ts';
import { startFor } from './engine.ts';
import { type ImageFile, imageFiles } from './image-files.ts';
import { csvLines, jsonRow, type Row, tableLines, worstFirst } from './score-rows.ts';

export const scoreConfigSchema = z.strictObject({
  images: z
    .array(z.string().min(1))
    .min(1)
    .describe('image files, folders with all in them, or - for a list on standard input'),
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
  json: z.boolean().default(false).describe('one JSON object per image, in the order given'),
  csv: z.boolean().default(false).describe('a CSV table, in the order given'),
  minScore: z.number().min(1).max(5).nullable().default(null).describe('fail when an image scores lower'),
});
export type ScoreConfig = z.infer<typeof scoreConfigSchema>;

export const scoreStage: Stage<ScoreConfig> = {
  schema: scoreConfigSchema,
  async run(config, context) {
    if (config.json && config.csv) throw new ConfigError('json and csv are both set: choose one of them');
    const note = (line: string): void => context.progress.note(line);
    const files = await imageFiles(config.images, note, () => text(process.stdin));
    const print = printer(config, context);
    const rows: Row[] = [];
    const add = async (row: Row): Promise<void> => {
      rows.push(row);
      await print.row(row);
    };
    if (files.every(({ problem }) => problem !== null)) {
      for (const file of files) await add({ ...file, result: null });
      print.end();
      finish(rows, config);
      return;
    }
    const folder = config.model ?? (await defaultModel());
    await startFor(context);
    const scorer = await createScorer({ model: folder, mode: config.mode, prompt: config.prompt });
    note(`model: ${folder}`);
    context.progress.start('score', files.length);
    try {
      for await (const row of scoredRows(files, scorer, config, context.signal)) {
        await add(row);
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

/** A row for each file in order; those that lead to no picture keep their place. */
async function* scoredRows(
  files: readonly ImageFile[],
  scorer: Scorer,
  { seed, maxNewTokens }: ScoreConfig,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  const readable = files.filter(({ problem }) => problem === null);
  const paths = readable.map(({ file }) => file);
  const items = scorer.scoreBatch(paths.values(), { seed, maxNewTokens, signal });
  let next = 0;
  for await (const { index, score, error } of items) {
    const file = readable[index]!;
    for (; files[next] !== file; next++) yield { ...files[next]!, result: null };
    next++;
    yield { file: file.file, result: score, problem: error === null ? null : problemOf(error) };
  }
  for (; next < files.length; next++) yield { ...files[next]!, result: null };
}

/** As of a path that leads to no picture: what is wrong, and how to mend it. */
const problemOf = ({ message, hint }: QPonderError): string =>
  hint === undefined ? message : `${message}: ${hint}`;

/** Rows for programs go out as they come; the table for people is sorted, so it goes out at the end, however it comes. */
function printer({ json, csv }: ScoreConfig, { print }: StageContext) {
  const held: Row[] = [];
  let headers = true;
  return {
    async row(row: Row): Promise<void> {
      if (json) print(JSON.stringify(jsonRow(row)));
      else if (csv) {
        print(await csvLines([row], headers));
        headers = false;
      } else held.push(row);
    },
    end(): void {
      for (const line of tableLines(worstFirst(held))) print(line);
    },
  };
}

function finish(rows: readonly Row[], { minScore }: ScoreConfig): void {
  const low =
    minScore === null
      ? []
      : rows.filter(({ result }) => result?.score != null && !(result.score >= minScore));
  const unscored = rows.filter(({ result }) => result === null || result.score === null);
  const below = `${low.length} of ${rows.length} images score below ${minScore}: ${firstOf(worstFirst(low))}`;
  if (unscored.length > 0) {
    const none = `${unscored.length} of ${rows.length} images have no score: ${firstOf(unscored)}`;
    throw new InputError(low.length > 0 ? `${none}; ${below}` : none, {
      hint: 'the lines above say why; the other scores stand',
    });
  }
  if (low.length > 0) throw new GateError(below);
}

const NAMED = 5;

/** The names of the first few, and whether there are more. */
const firstOf = (rows: readonly Row[]): string =>
  [
    ...rows.slice(0, NAMED).map(({ file }) => file),
    ...(rows.length > NAMED ? [`and ${rows.length - NAMED} more`] : []),
  ].join(', ');
