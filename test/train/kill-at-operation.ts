import { open } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';

/**
 * Preloaded into a process of the product: counts its asynchronous file operations, before and after each, and
 * kills it (SIGKILL, nothing is flushed) at the number in Q_PONDER_KILL_AT. Between two of them lies every moment
 * at which a half-written file, folder or pointer could be left behind. At a normal end the count is printed.
 */
const killAt = Number(process.env.Q_PONDER_KILL_AT);
let passed = 0;

function pass(): void {
  passed++;
  if (passed === killAt) process.kill(process.pid, 'SIGKILL');
}

type AsyncFunction = (...args: unknown[]) => unknown;

const counted = (operation: AsyncFunction): AsyncFunction =>
  function (this: unknown, ...args: unknown[]) {
    pass();
    const result = operation.apply(this, args);
    return result instanceof Promise ? result.finally(pass) : result;
  };

const module = createRequire(import.meta.url)('node:fs/promises') as Record<string, unknown>;
const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle) as Record<string, unknown>;
await handle.close();
for (const name of [
  'open',
  'rename',
  'rm',
  'mkdir',
  'writeFile',
  'readFile',
  'unlink',
  'truncate',
  'copyFile',
]) {
  module[name] = counted(module[name] as AsyncFunction);
}
for (const name of ['write', 'writev', 'writeFile', 'appendFile', 'sync', 'datasync', 'truncate', 'close']) {
  prototype[name] = counted(prototype[name] as AsyncFunction);
}
syncBuiltinESMExports();
process.on('exit', () => process.stderr.write(`operations: ${passed}\n`));
