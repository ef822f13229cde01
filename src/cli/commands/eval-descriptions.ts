import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const evalDescriptionsCommand = defineStageCommand({
  path: ['eval', 'descriptions'],
  summary: 'measure descriptions: distortions named, severities, contradictions; or let a model judge them',
  offers: [],
  continues: true,
  shortcuts: [
    {
      flags: '[files...]',
      key: 'files',
      description: 'predictions.jsonl, or descriptions as JSON Lines or JSON',
    },
    { flags: '--names <names...>', key: 'names', description: 'a name for each file, for the tables' },
    { flags: '--models <names...>', key: 'models', description: 'the model that wrote each file' },
    { flags: '--data <folder>', key: 'dataset', description: 'data set that knows the truth about the ids' },
    {
      flags: '--vocabulary <name>',
      key: 'vocabulary',
      description: "lexicon: our own words; free: anybody's, by families of types",
    },
    {
      flags: '--judge-url <addresses...>',
      key: 'judge.urls',
      description: 'OpenAI-compatible address, up to /v1; two for agreement',
    },
    { flags: '--judge-model <names...>', key: 'judge.models', description: 'model of each judge' },
    { flags: '--pair', key: 'judge.pair', description: 'compare two files, each picture in both orders' },
    {
      flags: '--samples <n>',
      key: 'judge.samples',
      description: 'replies of a judge about each description',
      parse: parseNumber,
    },
    { flags: '--out <folder>', key: 'output', description: "folder for results and the judges' replies" },
  ],
  load: async () => (await import('../stages/eval-descriptions.ts')).evalDescriptionsStage,
});
