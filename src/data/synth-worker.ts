/** One process of a synthesis run. It speaks the messages of synth-tasks.ts with the process that started it. */
import sharp from 'sharp';
import { QPonderError } from '../core/index.ts';
import { openSource } from './synth-source.ts';
import { carryOut, type FromWorker, type ImageSource, type ToWorker } from './synth-tasks.ts';

const send = (message: FromWorker): void => {
  process.send?.(message);
};

// One process per core already: libvips' own threads would only fight over them.
sharp.concurrency(1);
sharp.cache(false);

// Ctrl-C reaches the whole process group; the parent decides what happens, and its end is ours.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));

let source: ImageSource | undefined;
let folder = '';

async function handle(message: ToWorker): Promise<void> {
  if (message.kind === 'open') {
    folder = message.folder;
    source = await openSource(message.config);
    send({ kind: 'ready' });
    return;
  }
  if (source === undefined) throw new Error('a task came before the configuration');
  send({ kind: 'done', number: message.number, records: await carryOut(source, message.task, folder) });
}

process.on('message', (message) => {
  handle(message as ToWorker).catch((error: unknown) => {
    const known = error instanceof QPonderError;
    send({
      kind: 'failed',
      code: known ? error.code : null,
      message:
        error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error),
      hint: known ? (error.hint ?? null) : null,
    });
  });
});
