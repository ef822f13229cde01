import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'eval/srcc-plcc.ts', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

const csiq = new URL('../../../shared/data/predictions_fsim/CSIQ.csv', import.meta.url);
const absent = !existsSync(csiq);
if (absent) console.log(`skipped: published predictions, because ${csiq.pathname} is absent`);

describe.skipIf(absent)('eval/srcc-plcc.ts on FSIM for CSIQ', () => {
  it('prints the published SRCC .9242, KRCC .7567 and PLCC .9120', () => {
    const { stdout, status } = run(
      csiq.pathname,
      ...[
        '--pred',
        'fsim',
        '--mos',
        'subjective',
        '--lower-better',
        '--fit',
        'logistic5',
        '--resamples',
        '0',
      ],
    );
    expect(status).toBe(0);
    expect(stdout.split('\n').at(2)?.split(/ +/)).toEqual([
      ...['all', '866', '0.9242', '-', '0.8048', '-', '0.7567', '0.9120', '0.1077'],
    ]);
  });
});

describe('eval/srcc-plcc.ts refuses', () => {
  it('a missing file with exit code 4', () => {
    const { stderr, status } = run('absent.csv', '--pred', 'a', '--mos', 'b');
    expect({ status, stderr }).toEqual({ status: 4, stderr: expect.stringContaining('ENOENT') as string });
  });
  it('an unknown option with exit code 2', () => {
    const { stderr, status } = run('absent.csv', '--prediction', 'a');
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining("unknown option '--prediction'") as string,
    });
  });
});
