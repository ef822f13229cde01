import { InvalidArgumentError } from 'commander';
import { defineStageCommand } from '../stage-command.ts';

/** A number that is written out, for commander; the configuration's schema knows the range. */
function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('allowed is a number');
  return value;
}

export const distillCommand = defineStageCommand({
  path: ['distill'],
  summary: "collect a teacher's reasoning about the images of a data set",
  offers: [],
  continues: true,
  shortcuts: [
    {
      flags: '--teacher <name>',
      key: 'teacher',
      description: 'oracle (generated images), template, http (a model behind an address), replay or import',
    },
    { flags: '--data <folder>', key: 'dataset', description: 'data set folder' },
    { flags: '--out <folder>', key: 'output', description: 'folder for the rows and the report' },
    {
      flags: '--teacher-url <address>',
      key: 'http.url',
      description: 'OpenAI-compatible address, up to /v1; the key comes from QPONDER_TEACHER_API_KEY',
    },
    { flags: '--teacher-model <name>', key: 'http.model', description: 'model to ask' },
    {
      flags: '--prompts <names...>',
      key: 'http.prompts',
      description: 'prompts of the teacher, each asked about every image',
    },
    { flags: '--samples <n>', key: 'http.samples', description: 'answers to each prompt', parse: number },
    { flags: '--concurrency <n>', key: 'concurrency', description: 'requests in flight', parse: number },
    {
      flags: '--budget <cost>',
      key: 'http.budget.cost',
      description: 'most to spend on the folder, by http.prices',
      parse: number,
    },
    {
      flags: '--budget-tokens <n>',
      key: 'http.budget.tokens',
      description: 'most tokens to spend on the folder',
      parse: number,
    },
    {
      flags: '--from <path>',
      key: 'from',
      description: 'recorded answers (replay), or a file or folder of texts (import)',
    },
    {
      flags: '--retry-rejected [n]',
      key: 'retryRejected',
      description: 'ask again in place of rejected answers, n times at most (1)',
      parse: number,
    },
    {
      flags: '--keep <which>',
      key: 'selection.keep',
      description: 'all accepted answers, the best, or the most diverse of each image',
    },
  ],
  load: async () => (await import('../stages/distill.ts')).distillStage,
});
