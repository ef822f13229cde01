import { z } from 'zod';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { runMain } from '../../src/cli/run-command.ts';
import { defineStageCommand } from '../../src/cli/stage-command.ts';
import { GateError, StorageError } from '../../src/core/index.ts';

/** A program with the real frame and stages made for the tests. */

const failures: Record<string, () => unknown> = {
  storage: () => new StorageError('the message', { hint: 'the remedy' }),
  gate: () => new GateError('the message', { hint: 'the remedy' }),
  raw: () => Object.assign(new Error("ENOSPC: no space left on device, write '/data/x'"), { code: 'ENOSPC' }),
  defect: () => new TypeError('x is not a function'),
  text: () => 'a thrown text',
};

const fail: CommandDefinition = {
  path: ['fail'],
  summary: 'fail in the given way',
  configure(command) {
    command
      .argument('<kind>')
      .option('--late')
      .action((kind: string, options: { late?: true }) => {
        const error = failures[kind]?.();
        if (options.late === undefined) throw error;
        // Thrown outside the command's own promise, while something else keeps the process alive.
        setInterval(() => undefined, 1000);
        setTimeout(() => {
          throw error;
        }, 1);
      });
  },
};

const workSchema = z.strictObject({
  steps: z.int().positive().default(3),
  mode: z.enum(['steps', 'wait', 'busy', 'abortable', 'flood']).default('steps'),
  optimizer: z
    .strictObject({ learningRate: z.number().default(1e-3), clip: z.number().default(1) })
    .prefault({}),
  images: z.array(z.string()).default([]),
  out: z.string().nullable().default(null),
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const work = defineStageCommand({
  path: ['train', 'work'],
  summary: 'pretend to train',
  offers: ['backend', 'threads'],
  continues: true,
  shortcuts: [
    { flags: '[images...]', key: 'images', description: 'images' },
    { flags: '--out <folder>', key: 'out', description: 'output folder' },
    { flags: '--learning-rate <x>', key: 'optimizer.learningRate', description: 'rate', parse: Number },
  ],
  load: async () => ({
    schema: workSchema,
    async run(
      config: z.infer<typeof workSchema>,
      { progress, signal, backend, threads, print },
    ): Promise<void> {
      while (config.mode === 'flood') {
        print('a line of results');
        await sleep(0);
      }
      progress.start('work', config.steps);
      progress.update(0);
      print(JSON.stringify({ config, backend, threads }));
      if (config.mode === 'abortable') {
        await fetchLike(signal);
      } else if (config.mode !== 'steps') {
        while (!signal.aborted) await sleep(1);
        print('saved');
        // As native code does: nothing of Node's runs any more.
        if (config.mode === 'busy') for (;;);
        signal.throwIfAborted();
      }
      for (let step = 1; step <= config.steps; step++) progress.update(step, { loss: 1 / step });
      progress.note('a note');
      progress.stop();
    },
  }),
});

const needsSchema = z.strictObject({
  run: z.string().min(1).describe('run folder'),
  kind: z.enum(['a', 'b']).default('a').describe('which kind'),
  images: z.array(z.string().min(1)).min(1).describe('files'),
  deep: z
    .strictObject({ name: z.string(), size: z.int().default(3).describe('how large') })
    .prefault({ name: 'n' }),
});

/** A stage with required keys, which keeps no state when it is stopped. */
const needs = defineStageCommand({
  path: ['needs'],
  summary: 'need some keys',
  offers: [],
  shortcuts: [
    { flags: '[images...]', key: 'images', description: 'images' },
    { flags: '--run <folder>', key: 'run', description: 'run folder' },
  ],
  load: async () => ({
    schema: needsSchema,
    async run(_config: z.infer<typeof needsSchema>, { progress, signal }): Promise<void> {
      progress.start('needs', 1);
      progress.update(0);
      while (!signal.aborted) await sleep(1);
      signal.throwIfAborted();
    },
  }),
});

/** Node's own functions reject with an AbortError when their signal aborts. */
async function fetchLike(signal: AbortSignal): Promise<void> {
  const { setTimeout: wait } = await import('node:timers/promises');
  await wait(60_000, undefined, { signal });
}

await runMain(async () => {
  await buildProgram('9.8.7', [fail, work, needs]).parseAsync();
});
