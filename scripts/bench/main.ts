/** `npm run bench`: speed of the engine against others, as ratios measured in one run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFileAtomic } from '../../src/core/index.ts';
import {
  type CaseReport,
  languageGeneration,
  languageTraining,
  miniatureGeneration,
  miniatureTraining,
} from './cases.ts';
import { allOf, startEngines } from './contestants.ts';
import { writeLanguageSetup } from './language.ts';
import { describeMachine } from './machine.ts';

const USAGE = `npm run bench -- [options]

  --quick          one step of everything, to see that it works; the numbers mean nothing
  --json FILE      also write all measurements to FILE
  --python PATH    the Python whose PyTorch takes part (default python3)
  --threads N      threads of the engine, and at most of PyTorch (default: all cores)
  --no-wasm        leave out TensorFlow.js's WebAssembly backend, whose steps take many seconds
`;

const OPTIONS = {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    threads: { type: 'string', default: String(availableParallelism()) },
    'no-wasm': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
} as const;
const options = readOptions();
if (options.help) process.stdout.write(USAGE);
else await bench(Number(options.threads));

function readOptions() {
  try {
    const { values } = parseArgs(OPTIONS);
    if (!/^[1-9]\d*$/.test(values.threads))
      throw new RangeError(`--threads must be a whole number from 1 on, got '${values.threads}'`);
    return values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function bench(threads: number): Promise<void> {
  const machine = describeMachine();
  print(
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB; ${machine.system}; Node ${machine.node}; commit ${machine.commit}`,
    `${machine.command}, ${machine.started}, load before ${machine.load.join(' ')}`,
  );
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-bench-'));
  try {
    await writeLanguageSetup(folder);
    const engines = await startEngines(folder, {
      threads,
      python: options.python,
      wasm: !options['no-wasm'],
    });
    const descriptions = Object.fromEntries(
      allOf(engines).map(({ name, description }) => [name, description]),
    );
    for (const [name, description] of Object.entries(descriptions)) print(`  ${name}: ${description}`);
    for (const reason of engines.absent) print(`  without ${reason}`);
    const reports: CaseReport[] = [];
    // Generation first: its tokens are compared, and training takes the engines' weights apart.
    for (const run of [languageGeneration, languageTraining, miniatureTraining, miniatureGeneration]) {
      const report = await run(engines, options);
      reports.push(report);
      printCase(report);
    }
    for (const engine of allOf(engines)) engine.stop();
    const loadAfter = loadavg().map((value) => Math.round(value * 100) / 100);
    print('', `load after ${loadAfter.join(' ')}`);
    if (options.json !== undefined) {
      const cases = reports.map(({ results, ...rest }) => ({
        ...rest,
        results: results.map(({ evidence: _, ...measured }) => measured),
      }));
      const content = { machine, loadAfter, engines: descriptions, absent: engines.absent, cases };
      await writeFileAtomic(options.json, `${JSON.stringify(content, null, 2)}\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function printCase({ title, results, ratios, agreement }: CaseReport): void {
  print('', title);
  for (const { engine, milliseconds, processorMilliseconds, rounds, rate } of results) {
    const span = `${Math.min(...rounds).toFixed(1)} to ${Math.max(...rounds).toFixed(1)}`;
    print(
      `  ${engine.padEnd(18)} ${milliseconds.toFixed(1).padStart(9)} ms  (${rounds.length} rounds, ${span}; processor ${processorMilliseconds.toFixed(0)} ms)  ${rate}`,
    );
  }
  for (const { onnxAgainst, ratio, target } of ratios) {
    const verdict = target === undefined ? '' : `, target ${target}: ${ratio >= target ? 'met' : 'missed'}`;
    print(`  onnx is ${ratio.toFixed(2)} x as fast as ${onnxAgainst}${verdict}`);
  }
  for (const line of agreement) print(`  ${line}`);
}

function print(...lines: string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
