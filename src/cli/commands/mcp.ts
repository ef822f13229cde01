import { defineStageCommand } from '../stage-command.ts';

/** Every --root counts. */
const another = (folder: string, before: unknown = []): string[] => [
  ...(Array.isArray(before) ? (before as string[]) : []),
  folder,
];

export const mcpCommand = defineStageCommand({
  path: ['mcp'],
  summary: 'serve score_image and compare_images to an assistant (Model Context Protocol, stdio)',
  offers: ['backend', 'threads'],
  shortcuts: [
    { flags: '--model <folder>', key: 'model', description: 'checkpoint folder (default: the demo’s)' },
    { flags: '--mode <mode>', key: 'mode', description: 'expected (default), greedy or sampled' },
    {
      flags: '--root <folder>',
      key: 'roots',
      description: 'folder that pictures may be read from; may be repeated (default: the working folder)',
      parse: another,
    },
  ],
  load: async () => (await import('../stages/mcp.ts')).mcpStage,
});
