import { z } from 'zod';
import { ConfigError } from '../../core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../../data/index.ts';
import { startEngine } from '../../engine/index.ts';
import { EXTERNAL_DATA_RULES, exportModel } from '../../model/index.ts';
import type { Stage } from '../stage-command.ts';

const modelExportConfigSchema = z.strictObject({
  model: z.string().min(1).describe('model folder, or an adapter’s, which is merged'),
  output: z.string().min(1).describe('new folder; must be empty or not exist'),
  prompt: z.string().min(1).default('student/quality.v1').describe('shipped prompt that is asked'),
  picture: z
    .strictObject({
      width: z.int().positive().max(16_384).default(224),
      height: z.int().positive().max(16_384).default(224),
    })
    .prefault({})
    .describe('size of the pictures; the model’s processor rounds it'),
  maxNewTokens: z.int().positive().max(8192).default(256).describe('tokens of an answer at most'),
  externalData: z
    .enum(EXTERNAL_DATA_RULES)
    .default('auto')
    .describe('weights in one file beside the ONNX files; auto: from 0.5 GB on'),
});
type ModelExportConfig = z.infer<typeof modelExportConfigSchema>;

export const modelExportStage: Stage<ModelExportConfig> = {
  schema: modelExportConfigSchema,
  async run({ model, output, prompt, picture, maxNewTokens, externalData }, { progress, signal, print }) {
    const question = await questionOf(prompt);
    await startEngine();
    await exportModel(model, output, {
      ...picture,
      question,
      maxNewTokens,
      externalData,
      progress,
      signal,
    });
    print(output);
  },
};

/** The text of a prompt. ConfigError for one that says something else of each picture. */
async function questionOf(name: string): Promise<string> {
  const prompt = await loadShippedPrompt(name);
  if (prompt.slots.length > 0) {
    throw new ConfigError(
      `the prompt "${name}" is filled anew for each picture (${prompt.slots.join(', ')}); an export asks one question`,
      { hint: 'choose one of student/' },
    );
  }
  return renderPrompt(prompt).text;
}
