import { z } from 'zod';
import { loadShippedPrompt, renderPrompt } from '../../data/index.ts';
import { startEngine } from '../../engine/index.ts';
import { exportModel } from '../../model/index.ts';
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
});
type ModelExportConfig = z.infer<typeof modelExportConfigSchema>;

export const modelExportStage: Stage<ModelExportConfig> = {
  schema: modelExportConfigSchema,
  async run({ model, output, prompt, picture, maxNewTokens }, { progress, print }) {
    const question = renderPrompt(await loadShippedPrompt(prompt)).text;
    await startEngine();
    await exportModel(model, output, { ...picture, question, maxNewTokens, progress });
    print(output);
  },
};
