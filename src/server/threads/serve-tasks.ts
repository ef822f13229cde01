import type { TransferListItem } from 'node:worker_threads';
import { parentPort } from 'node:worker_threads';
import { type FromThread, sentError, type ToThread } from './messages.ts';

export interface TaskContext {
  signal: AbortSignal;
  /** Something to tell before the answer. */
  emit(event: unknown): void;
}

export interface TaskAnswer {
  value: unknown;
  transfer?: TransferListItem[];
}

/** What a thread can do once it is open. */
export interface OpenThread<Task> {
  /** Told to the server with "ready". */
  info: unknown;
  carryOut(task: Task, context: TaskContext): Promise<TaskAnswer>;
  close(): void;
}

/**
 * The life of a thread: it opens, says "ready", answers tasks, and ends by itself when it is told to close.
 * It is never terminated: ONNX Runtime aborts the whole process when a thread ends within a run.
 */
export async function serveTasks<Task>(open: () => Promise<OpenThread<Task>>): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a thread of the server only');
  const send = (message: FromThread, transfer: TransferListItem[] = []): void =>
    port.postMessage(message, transfer);
  const running = new Map<number, AbortController>();
  let thread: OpenThread<Task>;
  let closing = false;
  try {
    thread = await open();
  } catch (error) {
    send({ kind: 'unusable', error: sentError(error) });
    port.close();
    return;
  }

  const endIfIdle = (): void => {
    if (!closing || running.size > 0) return;
    thread.close();
    port.close();
  };

  async function answer(id: number, task: Task): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    const emit = (event: unknown): void => send({ kind: 'event', id, event });
    try {
      const { value, transfer } = await thread.carryOut(task, { signal: controller.signal, emit });
      send({ kind: 'done', id, value }, transfer);
    } catch (error) {
      send({ kind: 'failed', id, error: sentError(error) });
    } finally {
      running.delete(id);
      endIfIdle();
    }
  }

  port.on('message', (message: ToThread) => {
    if (message.kind === 'task') void answer(message.id, message.task as Task);
    else if (message.kind === 'cancel') running.get(message.id)?.abort();
    else {
      closing = true;
      endIfIdle();
    }
  });
  send({ kind: 'ready', info: thread.info });
}
