/**
 * Measures a server of a model folder, started here in a process of its own:
 *
 *   npx tsx scripts/bench-server/main.ts <model folder> [seconds of each part] [seconds of the soak] [mode]
 *
 * One request at a time; saturation (32 lanes); 50 % of it for latency; a soak at 120 %, with memory and the time
 * of /healthz. With the environment's BENCH_URL another server is measured instead, which must answer raw bytes at
 * POST /v1/score (scripts/bench-server/python_server.py does).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { atRate, inLanes, type LoadReport } from './load.ts';

const [model = '', seconds = '20', soakSeconds = '60', mode = 'expected'] = process.argv.slice(2);
const other = process.env.BENCH_URL;
const LANES = 32;

/** Photographs of several contents and one size: batches can form, caches of pictures cannot help. */
async function pictures(): Promise<Buffer[]> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  return Promise.all(
    Array.from({ length: 16 }, (_, i) =>
      sharp({ create: { width: 512, height: 384, channels: 3, background: '#888', noise } })
        .blur(0.5 + i / 4)
        .jpeg({ quality: 60 + 2 * i })
        .toBuffer(),
    ),
  );
}

async function startChild(): Promise<{ url: string; child: ChildProcess }> {
  const entry = fileURLToPath(new URL('./serve.ts', import.meta.url)).replace(
    /\.ts$/,
    import.meta.url.endsWith('.ts') ? '.ts' : '.js',
  );
  const child = spawn(process.execPath, [...process.execArgv, entry, model, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', (data: Buffer) => resolve(data.toString().trim()));
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { url, child };
}

const megabytesOf = (pid: number | undefined): number =>
  pid === undefined
    ? Number.NaN
    : Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

const show = (name: string, { rate, p50, p99, statuses }: LoadReport): void => {
  process.stdout.write(
    `${name}: ${rate.toFixed(1)} pictures/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${JSON.stringify(statuses)}\n`,
  );
};

const bodies = await pictures();
const { url, child } = other === undefined ? await startChild() : { url: other, child: undefined };
let next = 0;
const send = async (): Promise<number> => {
  const body = new Uint8Array(bodies[next++ % bodies.length]!);
  const response = await fetch(`${url}/v1/score`, {
    method: 'POST',
    headers: { 'content-type': 'image/jpeg' },
    body,
  });
  await response.arrayBuffer();
  return response.status;
};
const health = async (): Promise<number> => {
  const response = await fetch(`${url}/healthz`);
  await response.arrayBuffer();
  return response.status;
};

await inLanes(send, LANES, 5);
const alone = await inLanes(send, 1, Number(seconds));
show('one at a time', alone);
const [full, healthFull] = await Promise.all([
  inLanes(send, LANES, Number(seconds)),
  atRate(health, 20, Number(seconds)),
]);
show(`saturation, ${LANES} lanes`, full);
show('/healthz meanwhile', healthFull);
process.stdout.write(`saturation / one at a time: ${(full.rate / alone.rate).toFixed(2)}\n`);
show('50 % load', await atRate(send, full.rate * 0.5, Number(seconds)));
const memory: number[] = [];
const sampling = setInterval(
  () => memory.push(megabytesOf(child?.pid)),
  Math.max(1000, Number(soakSeconds) * 50),
);
const [soak, healthSoak] = await Promise.all([
  atRate(send, full.rate * 1.2, Number(soakSeconds)),
  atRate(health, 20, Number(soakSeconds)),
]);
clearInterval(sampling);
show(`120 % load, ${soak.seconds.toFixed(0)} s`, soak);
show('/healthz meanwhile', healthSoak);
process.stdout.write(`resident memory, MB: ${memory.join(' ')}\n`);
child?.removeAllListeners('exit');
child?.kill('SIGTERM');
