/**
 * Sends mutated pictures, JSON and forms through the whole server. Needs no data:
 *
 *   npx tsx scripts/fuzz-server/main.ts [inputs] [seed] [first]
 *
 * An input that fails is made again by its number: `main.ts 1 <seed> <number>`.
 */
import { fileURLToPath } from 'node:url';
import { fuzz } from './fuzz.ts';
import { openApp } from './open-app.ts';

const [count = 50_000, seed = 1, first = 0] = process.argv.slice(2).map(Number);
const model = fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url));
const defects: object[] = [];
const { app, close } = await openApp(model, (entry) => {
  if (entry.event === 'defect') defects.push(entry);
});
const megabytes = (): number => Math.round(process.memoryUsage().rss / 2 ** 20);
const memory: number[] = [];
const startedAt = performance.now();
const report = await fuzz(app, {
  seed,
  count,
  first,
  onProgress: (done) => {
    if (done % Math.max(1, Math.floor(count / 20)) !== 0) return;
    memory.push(megabytes());
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stderr.write(`${done} inputs, ${seconds} s, ${memory.at(-1)} MB\n`);
  },
});
const metrics = await (await app.request('/metrics')).text();
const restarts = /^q_ponder_worker_restarts_total\{.*$/gm.exec(metrics)?.[0] ?? 'no worker ended';
await close();
const seconds = Math.round((performance.now() - startedAt) / 1000);
process.stdout.write(`${JSON.stringify({ ...report, defects, restarts, memory, seconds }, null, 2)}\n`);
process.exitCode = report.failures.length + defects.length > 0 ? 1 : 0;
