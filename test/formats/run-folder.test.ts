import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointError, ConfigError, StorageError } from '../../src/core/index.ts';
import { type OpenRunOptions, openRun, type RunFolder } from '../../src/formats/run-folder.ts';

let folder: string;
let open: RunFolder[];
let notes: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-run-'));
  open = [];
  notes = [];
});
afterEach(async () => {
  for (const run of open) await run.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(options: Partial<OpenRunOptions> = {}): Promise<RunFolder> {
  const note = (line: string) => void notes.push(line);
  const run = await openRun(folder, { config: { steps: 10 }, stage: 'grpo', note, ...options });
  open.push(run);
  return run;
}

const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const fillWith = (content: string) => (target: string) => writeFile(join(target, 'weights'), content);
const checkpoint = (name: string): string => join(folder, 'checkpoints', name);

describe('a new run folder', () => {
  it('records stage and configuration', async () => {
    await start({ config: { steps: 10, optimizer: { clip: null } } });
    expect(JSON.parse(await text('config.json'))).toEqual({
      stage: 'grpo',
      config: { steps: 10, optimizer: { clip: null } },
    });
  });

  it('writes metrics and samples as rows with their step first, at once', async () => {
    const run = await start();
    run.metrics(1, { loss: 0.1 + 0.2, reward: 1 });
    run.metrics(1, { validation_srcc: -0.5 });
    run.sample(2, { text: 'a\nb', terms: { format: 1 } });
    expect(await text('metrics.jsonl')).toBe(
      '{"step":1,"loss":0.30000000000000004,"reward":1}\n{"step":1,"validation_srcc":-0.5}\n',
    );
    expect(await text('samples.jsonl')).toBe('{"step":2,"text":"a\\nb","terms":{"format":1}}\n');
  });

  it('records a value that is not finite as null, never as a number', async () => {
    const run = await start();
    run.metrics(1, { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: 0 });
    expect(await text('metrics.jsonl')).toBe('{"step":1,"a":null,"b":null,"c":0}\n');
  });

  it('keeps wall-clock values in timings.jsonl alone', async () => {
    const run = await start();
    const before = Date.now() / 1000;
    run.timings(3, { seconds: 0.25 });
    const row = JSON.parse(await text('timings.jsonl'));
    expect(row).toMatchObject({ step: 3, seconds: 0.25 });
    expect(row.time).toBeGreaterThanOrEqual(before);
    expect(row.time).toBeLessThanOrEqual(Date.now() / 1000);
    expect(await text('metrics.jsonl')).toBe('');
  });

  it.each([-1, 1.5, Number.NaN, 3])('refuses step %d after step 4', async (step) => {
    const run = await start();
    run.metrics(4, { loss: 1 });
    expect(() => run.metrics(step, { loss: 1 })).toThrow(`got step ${step} after step 4`);
  });

  it('refuses a row that brings its own step', async () => {
    const run = await start();
    expect(() => run.sample(1, { step: 2 })).toThrow(RangeError);
  });

  it.each([0, -1, 1.5])('refuses keepCheckpoints = %d', async (keepCheckpoints) => {
    await expect(start({ keepCheckpoints })).rejects.toBeInstanceOf(ConfigError);
  });
});

describe('checkpoints', () => {
  it('carry a manifest with size and SHA-256 of every file, those in folders too', async () => {
    const run = await start();
    const saved = await run.saveCheckpoint(100, async (target) => {
      await fillWith('hello')(target);
      await mkdir(join(target, 'state'));
      await writeFile(join(target, 'state/rng'), '');
    });
    expect(saved).toEqual({ step: 100, folder: checkpoint('step-00000100'), best: null });
    expect(JSON.parse(await text('checkpoints/step-00000100/manifest.json'))).toEqual({
      step: 100,
      best: null,
      files: {
        // FIPS 180 examples: of "hello" as sha256sum prints it, and of the empty message.
        weights: { bytes: 5, sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' },
        'state/rng': {
          bytes: 0,
          sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        },
      },
    });
  });

  it('latestCheckpoint is the newest by number, not by name', async () => {
    const run = await start();
    expect(await run.latestCheckpoint()).toBeNull();
    await run.saveCheckpoint(99_999_999, fillWith('a'));
    await run.saveCheckpoint(100_000_000, fillWith('b'));
    expect((await run.latestCheckpoint())?.step).toBe(100_000_000);
  });

  it('a fill that throws leaves the checkpoints as they were', async () => {
    const run = await start();
    await run.saveCheckpoint(1, fillWith('a'), { metric: 'srcc', value: 0.5 });
    const failing = run.saveCheckpoint(2, () => Promise.reject(new RangeError('no')), {
      metric: 'srcc',
      value: 1,
    });
    await expect(failing).rejects.toThrow('no');
    expect(await readdir(join(folder, 'checkpoints'))).toEqual(['step-00000001']);
    expect(run.best).toEqual({ step: 1, metric: 'srcc', value: 0.5 });
    expect(JSON.parse(await text('best.json'))).toEqual({ step: 1, metric: 'srcc', value: 0.5 });
  });

  it('keeps the newest ones and the best', async () => {
    const run = await start({ keepCheckpoints: 2 });
    for (const [step, value] of [
      [1, 0.1],
      [2, 0.9],
      [3, 0.2],
      [4, 0.3],
      [5, 0.4],
    ] as const) {
      await run.saveCheckpoint(step, fillWith('w'), step <= 2 ? { metric: 'srcc', value } : undefined);
    }
    expect(await readdir(join(folder, 'checkpoints'))).toEqual([
      'step-00000002',
      'step-00000004',
      'step-00000005',
    ]);
    expect(run.best).toEqual({ step: 2, metric: 'srcc', value: 0.9 });
  });

  it('keeps the best one that a kept checkpoint would go back to', async () => {
    const run = await start({ keepCheckpoints: 2 });
    await run.saveCheckpoint(1, fillWith('w'), { metric: 'srcc', value: 0.5 });
    for (const step of [2, 3]) await run.saveCheckpoint(step, fillWith('w'));
    await run.saveCheckpoint(4, fillWith('w'), { metric: 'srcc', value: 0.6 });
    const names = await readdir(join(folder, 'checkpoints'));
    expect(names).toEqual(['step-00000001', 'step-00000003', 'step-00000004']);
  });
});

describe('resuming', () => {
  async function interruptedRun(): Promise<void> {
    const run = await start();
    for (let step = 1; step <= 5; step++) {
      run.metrics(step, { loss: step });
      run.sample(step, { text: `s${step}` });
      run.timings(step, { seconds: 1 });
      if (step === 2) await run.saveCheckpoint(2, fillWith('two'), { metric: 'srcc', value: 0.2 });
      if (step === 4) await run.saveCheckpoint(4, fillWith('four'), { metric: 'srcc', value: 0.4 });
    }
    await run.close();
  }
  const steps = async (name: string): Promise<number[]> =>
    (await text(name))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).step);

  it('continues from the newest checkpoint and cuts what was logged after it', async () => {
    await interruptedRun();
    const run = await start();
    expect(run.resumedFrom).toEqual({
      step: 4,
      folder: checkpoint('step-00000004'),
      best: { step: 4, metric: 'srcc', value: 0.4 },
    });
    for (const name of ['metrics.jsonl', 'samples.jsonl', 'timings.jsonl']) {
      expect(await steps(name)).toEqual([1, 2, 3, 4]);
    }
    run.metrics(5, { loss: 55 });
    expect(await steps('metrics.jsonl')).toEqual([1, 2, 3, 4, 5]);
    expect(notes).toEqual([`continuing from step 4 of ${folder}`]);
  });

  it('starts the logs anew when there is no checkpoint yet', async () => {
    const run = await start();
    run.metrics(0, { loss: 1 });
    await run.close();
    expect((await start()).resumedFrom).toBeNull();
    expect(await text('metrics.jsonl')).toBe('');
  });

  it('drops a last row that was cut short by a crash', async () => {
    await interruptedRun();
    await truncate(join(folder, 'metrics.jsonl'), (await text('metrics.jsonl')).length - 3);
    await start();
    expect(await steps('metrics.jsonl')).toEqual([1, 2, 3, 4]);
  });

  it('drops a torn row though its step is not later than the checkpoint', async () => {
    await interruptedRun();
    await start().then((run) => run.close());
    await appendFile(join(folder, 'samples.jsonl'), '{"step":4,"text":"é');
    await start();
    expect(await text('samples.jsonl')).toMatch(/"text":"s4"\}\n$/);
  });

  it('counts bytes, not characters, when it cuts', async () => {
    const run = await start();
    run.sample(1, { text: 'é漢😀' });
    await run.saveCheckpoint(1, fillWith('w'));
    run.sample(2, { text: 'later' });
    await run.close();
    await start();
    expect(await text('samples.jsonl')).toBe('{"step":1,"text":"é漢😀"}\n');
  });

  it('refuses a log with a foreign line, naming file and line', async () => {
    await interruptedRun();
    const rows = (await text('metrics.jsonl')).split('\n');
    rows[1] = 'edited by hand';
    await writeFile(join(folder, 'metrics.jsonl'), rows.join('\n'));
    await expect(start()).rejects.toThrow(`${join(folder, 'metrics.jsonl')}:2`);
    // The refusal gives the lock back.
    expect(await readdir(folder)).not.toContain('run.lock');
  });

  it.each([
    ['a flipped byte', (path: string) => writeFile(join(path, 'weights'), 'fouR')],
    ['a short file', (path: string) => truncate(join(path, 'weights'), 2)],
    ['a missing file', (path: string) => rm(join(path, 'weights'))],
    ['a missing manifest', (path: string) => rm(join(path, 'manifest.json'))],
    ['a broken manifest', (path: string) => truncate(join(path, 'manifest.json'), 20)],
  ])('goes back to the checkpoint before one with %s, and says so', async (_what, damage) => {
    await interruptedRun();
    await damage(checkpoint('step-00000004'));
    const run = await start();
    expect(run.resumedFrom?.step).toBe(2);
    expect(run.best).toEqual({ step: 2, metric: 'srcc', value: 0.2 });
    expect(JSON.parse(await text('best.json')).step).toBe(2);
    expect(await steps('metrics.jsonl')).toEqual([1, 2]);
    expect(notes[0]).toMatch(/step-00000004 is damaged: .*; going back to the one before$/);
    // Training on replaces the damaged one.
    await run.saveCheckpoint(4, fillWith('again'));
    expect((await run.latestCheckpoint())?.step).toBe(4);
  });

  it('stops when no checkpoint can be loaded, instead of starting from nothing', async () => {
    await interruptedRun();
    for (const step of ['2', '4']) await rm(join(checkpoint(`step-0000000${step}`), 'weights'));
    await expect(start()).rejects.toBeInstanceOf(CheckpointError);
    expect(await steps('metrics.jsonl')).toEqual([1, 2, 3, 4, 5]);
  });

  it('brings back a checkpoint that was being replaced when the process died', async () => {
    await interruptedRun();
    const { rename } = await import('node:fs/promises');
    await rename(checkpoint('step-00000004'), checkpoint('.step-00000004.tmp-77-abcdef01-old'));
    await mkdir(checkpoint('.step-00000004.tmp-77-abcdef01'));
    await mkdir(checkpoint('.step-00000006.tmp-78-abcdef02'));
    const run = await start();
    expect(run.resumedFrom?.step).toBe(4);
    expect(await readdir(join(folder, 'checkpoints'))).toEqual(['step-00000002', 'step-00000004']);
  });

  it('resume: required needs a run, never refuses one', async () => {
    await expect(start({ resume: 'required' })).rejects.toThrow(`${folder} holds no run to resume`);
    expect(await readdir(folder)).toEqual([]);
    await interruptedRun();
    await expect(start({ resume: 'never' })).rejects.toThrow('already holds a run');
    expect((await start({ resume: 'required' })).resumedFrom?.step).toBe(4);
  });
});

describe('a run of another configuration', () => {
  const config = { steps: 10, optimizer: { learningRate: 0.1, clip: 1 }, levels: [1, 2], eval: { every: 5 } };
  beforeEach(async () => {
    await start({ config }).then((run) => run.close());
  });

  it('is refused with every differing key, before anything is touched', async () => {
    const other = {
      steps: 20,
      optimizer: { learningRate: 0.1, warmup: 3 },
      levels: [1, 3],
      eval: { every: 5 },
    };
    const opening = start({ config: other });
    await expect(opening).rejects.toBeInstanceOf(ConfigError);
    await expect(opening).rejects.toThrow(
      [
        'differs in 4 key(s):',
        '  steps: the run has 10, got 20',
        '  optimizer.clip: the run has 1, got (absent)',
        '  levels: the run has [1,2], got [1,3]',
        '  optimizer.warmup: the run has (absent), got 3',
      ].join('\n'),
    );
    expect(JSON.parse(await text('config.json')).config).toEqual(config);
  });

  it('of another version, which knew other sections, is told apart from other settings', async () => {
    const { levels: _, ...rest } = config;
    await expect(start({ config: { ...rest, shards: 2 } })).rejects.toMatchObject({
      hint: expect.stringContaining('another version of q-ponder, which did not know shards and had levels'),
    });
    await expect(start({ config: { ...config, steps: 11 } })).rejects.toMatchObject({
      hint: 'repeat the settings it was started with, or choose another run folder',
    });
  });

  it('continues when only keys differ that may, and records them', async () => {
    const other = { ...config, eval: { every: 9 } };
    await start({ config: other, mayDiffer: ['eval'] });
    expect(JSON.parse(await text('config.json')).config).toEqual(other);
  });

  it('mayDiffer names whole keys, not beginnings of names', async () => {
    await expect(start({ config: { ...config, steps: 11 }, mayDiffer: ['step'] })).rejects.toThrow('steps');
  });

  it('does not mind the order of keys', async () => {
    const { levels, steps, ...rest } = config;
    expect(await start({ config: { ...rest, levels, steps } })).toBeTruthy();
  });

  it('is refused when it is of another stage', async () => {
    await expect(start({ config, stage: 'cold-start' })).rejects.toThrow(
      `${folder} holds a run of "grpo", asked for was "cold-start"`,
    );
  });

  it('is refused when checkpoints lost their config.json', async () => {
    const run = await start({ config });
    await run.saveCheckpoint(1, fillWith('w'));
    await run.close();
    await rm(join(folder, 'config.json'));
    await expect(start({ config })).rejects.toThrow('checkpoints but no config.json');
  });
});

describe('a run from other inputs', () => {
  const inputs = { rows: 'a'.repeat(64), 'records.jsonl': 'b'.repeat(64) };
  beforeEach(async () => {
    await start({ inputs }).then((run) => run.close());
  });

  it('is recorded beside the configuration', async () => {
    expect(JSON.parse(await text('config.json')).inputs).toEqual(inputs);
  });

  it('is refused with the name of each that differs, is new or is gone', async () => {
    const opening = start({ inputs: { rows: 'c'.repeat(64), 'model/a': 'd'.repeat(64) } });
    await expect(opening).rejects.toMatchObject({ exitCode: 2 });
    await expect(opening).rejects.toThrow(
      [
        'started from other content of 3 input(s) (SHA-256):',
        '  rows: the run started from aaaaaaaaaaaa, now it is cccccccccccc',
        '  records.jsonl: the run started from bbbbbbbbbbbb, now it is (absent)',
        '  model/a: the run started from (absent), now it is dddddddddddd',
      ].join('\n'),
    );
    expect(JSON.parse(await text('config.json')).inputs).toEqual(inputs);
  });

  it('continues where an older version recorded none, and records them from then on', async () => {
    const { inputs: _, ...old } = JSON.parse(await text('config.json'));
    await writeFile(join(folder, 'config.json'), JSON.stringify(old));
    await start({ inputs }).then((run) => run.close());
    await expect(start({ inputs: { ...inputs, rows: 'e'.repeat(64) } })).rejects.toThrow('  rows: ');
  });
});

describe('a run whose inputs were moved', () => {
  const inputs = { rows: 'a'.repeat(64), 'records.jsonl': 'b'.repeat(64) };
  const mayDiffer = ['eval', ...['dataset', 'rows'].map((movedInput) => ({ movedInput }))];
  const config = { dataset: '/old/data', rows: null, seed: 1 };
  const begin = (changes: object = {}) => start({ config, inputs, mayDiffer, ...changes });
  beforeEach(async () => {
    await begin().then((run) => run.close());
  });

  it('continues, and records the new path', async () => {
    await begin({ config: { ...config, dataset: '/new/data' } }).then((run) => run.close());
    expect(JSON.parse(await text('config.json')).config.dataset).toBe('/new/data');
  });

  it('is refused where the content differs too, with the content and the path', async () => {
    const opening = begin({
      config: { ...config, dataset: '/new/data' },
      inputs: { ...inputs, 'records.jsonl': 'c'.repeat(64) },
    });
    await expect(opening).rejects.toThrow(
      [
        `${folder} was started from other content of 1 input(s) (SHA-256):`,
        '  records.jsonl: the run started from bbbbbbbbbbbb, now it is cccccccccccc',
        'and the configuration names other paths:',
        '  dataset: the run has "/old/data", got "/new/data"',
      ].join('\n'),
    );
  });

  it('is refused where other keys differ, and only those are named', async () => {
    const opening = begin({ config: { ...config, dataset: '/new/data', seed: 2 } });
    await expect(opening).rejects.toThrow('differs in 1 key(s):\n  seed: the run has 1, got 2');
  });

  it('is refused where no hashes tell that the content is the same', async () => {
    const { inputs: _, ...old } = JSON.parse(await text('config.json'));
    await writeFile(join(folder, 'config.json'), JSON.stringify(old));
    const opening = begin({ config: { ...config, dataset: '/new/data' } });
    await expect(opening).rejects.toThrow('  dataset: the run has "/old/data", got "/new/data"');
  });
});

describe('a folder of other things', () => {
  it('is refused, and nothing is written into it', async () => {
    await mkdir(join(folder, 'photos'));
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const opening = start();
    await expect(opening).rejects.toMatchObject({ exitCode: 2, hint: 'choose a new or empty run folder' });
    await expect(opening).rejects.toThrow(
      `${folder} is no run folder, and it is not empty: it holds notes.txt, photos`,
    );
    expect(await readdir(folder)).toEqual(['notes.txt', 'photos']);
  });

  it('is refused when its config.json is not that of a run', async () => {
    await writeFile(join(folder, 'config.json'), '{"model_type": "qwen2_5_vl"}');
    await expect(start()).rejects.toThrow('is not the configuration of a run');
    expect(await readdir(folder)).toEqual(['config.json']);
  });

  it('what a run leaves that was stopped before its config.json is no obstacle', async () => {
    await writeFile(
      join(folder, 'run.lock'),
      JSON.stringify({ pid: 2 ** 22 + 9, host: hostname(), started: '' }),
    );
    await writeFile(join(folder, '.config.json.tmp-4204313-0123abcd-0123abcd'), '{"sta');
    expect((await start()).resumedFrom).toBeNull();
  });
});

describe('the lock', () => {
  const lockOf = (pid: number, host = hostname(), started = '') =>
    writeFile(join(folder, 'run.lock'), JSON.stringify({ pid, host, started }));
  /** A pid that no process has: pids on Linux end at 2^22, elsewhere far below. */
  const deadPid = 2 ** 22 + 12345;

  it('keeps a second opening out until the first is closed', async () => {
    const run = await start();
    const second = start();
    await expect(second).rejects.toBeInstanceOf(StorageError);
    await expect(second).rejects.toThrow(`in use by process ${process.pid} on ${hostname()}`);
    await run.close();
    await start();
  });

  it('of a dead process is taken over', async () => {
    await lockOf(deadPid);
    await start();
    expect(JSON.parse(await text('run.lock')).pid).toBe(process.pid);
    expect((await readdir(folder)).filter((name) => name.includes('stale'))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'of a dead process whose pid is in use again is taken over',
    async () => {
      await lockOf(process.ppid, hostname(), 'another start time');
      await start();
      expect(JSON.parse(await text('run.lock')).pid).toBe(process.pid);
    },
  );

  it('of another machine is not taken over', async () => {
    await lockOf(deadPid, 'elsewhere');
    await expect(start()).rejects.toThrow(`in use by process ${deadPid} on elsewhere`);
  });

  it('that is being written right now is respected', async () => {
    await writeFile(join(folder, 'run.lock'), '');
    await expect(start()).rejects.toThrow('in use by another process');
  });
});

it('sha256 in manifests is that of node:crypto for a file of several chunks', async () => {
  const run = await start();
  const bytes = Buffer.alloc(200_001, 'quality');
  await run.saveCheckpoint(1, (target) => writeFile(join(target, 'weights'), bytes));
  const manifest = JSON.parse(await text('checkpoints/step-00000001/manifest.json'));
  expect(manifest.files.weights.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
});
