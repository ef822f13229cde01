import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

const KEPT_COMPLAINT = 2000;

/** Gives the next line with a prefix; other lines are a library's chatter. An error if the process ends before. */
export function lineReader(
  name: string,
  child: ChildProcessByStdio<Writable, Readable, Readable>,
): (prefix: string) => Promise<string> {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(-KEPT_COMPLAINT);
  });
  child.on('error', (error) => {
    complaint += error.message;
  });
  return async (prefix) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the process of ${name} ended: ${complaint.trim()}`);
      if (value.startsWith(prefix)) return value.slice(prefix.length);
    }
  };
}
