import { z } from 'zod';
import { createScorer, defaultModel, SCORE_MODES, type Scorer } from '../../scoring/index.ts';
import { serveMcp } from '../../server/index.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage } from '../stage-command.ts';
import { startFor } from './engine.ts';

const MiB = 1024 * 1024;

export const mcpConfigSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('checkpoint folder; the latest demo model if not given'),
  mode: z.enum(SCORE_MODES).default('expected').describe('where a call does not say'),
  roots: z.array(z.string().min(1)).min(1).default(['.']).describe('folders that pictures may be read from'),
  prompt: z.string().min(1).default('student/quality.v1'),
  maxNewTokens: z.int().positive().default(96),
  maxBytes: z
    .int()
    .positive()
    .default(20 * MiB)
    .describe('encoded bytes of one picture'),
  maxPixels: z.int().positive().default(50_000_000).describe('width times height of one picture'),
});
export type McpConfig = z.infer<typeof mcpConfigSchema>;

/** Standard output belongs to the protocol: all that is told to people goes to standard error. */
export const mcpStage: Stage<McpConfig> = {
  schema: mcpConfigSchema,
  async run(config, context) {
    const folder = config.model ?? (await defaultModel());
    const note = (line: string): void => context.progress.note(line);
    const load = async (): Promise<Scorer> => {
      await startFor(context);
      const scorer = await createScorer({
        model: folder,
        mode: config.mode,
        prompt: config.prompt,
        input: { maxBytes: config.maxBytes, maxPixels: config.maxPixels },
      });
      note(`model: ${folder}`);
      return scorer;
    };
    const scorer = load();
    try {
      await serveMcp({
        scorer,
        roots: config.roots,
        input: process.stdin,
        output: process.stdout,
        version: packageInfo().version,
        mode: config.mode,
        maxBytes: config.maxBytes,
        maxNewTokens: config.maxNewTokens,
        signal: context.signal,
        onDefect: (error) => note(`internal error: ${error instanceof Error ? error.stack : String(error)}`),
      });
    } finally {
      // Who stops while the model loads need not wait for it.
      void scorer.then(
        (loaded) => loaded.close(),
        () => undefined,
      );
    }
  },
};
