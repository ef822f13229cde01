import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createTerminalProgress, formatDuration } from '../../src/cli/terminal-progress.ts';

/** A stream that keeps what is written, as a terminal or not. */
class Screen extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns = 200;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }

  /** What was drawn, without cursor movements. */
  get drawn(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is moved with
    return this.text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '\n');
  }
}

function progressOn(isTTY: boolean) {
  const screen = new Screen(isTTY);
  const clock = { ms: 0 };
  const stream = screen as unknown as NodeJS.WriteStream;
  return {
    screen,
    clock,
    progress: createTerminalProgress({ stream, intervalMs: 5000, now: () => clock.ms }),
  };
}

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [59.4, '59s'],
    [59.6, '1m00s'],
    [185, '3m05s'],
    [3599, '59m59s'],
    [7620, '2h07m'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('progress off a terminal', () => {
  it('prints where it is, rate, remaining time and current values', () => {
    const { screen, clock, progress } = progressOn(false);
    progress.start('grpo', 100);
    progress.update(0);
    clock.ms = 10_000;
    // 20 in 10 s are 2/s; the other 80 take 40 s.
    progress.update(20, { reward: 0.123456, phase: 'warm-up' });
    expect(screen.lines).toEqual([
      'grpo: 0/100 (0 %)',
      'grpo: 20/100 (20 %), 2/s, ETA 40s, reward 0.1235, phase warm-up',
    ]);
  });

  it('keeps to its interval, and stop prints the last state', () => {
    const { screen, clock, progress } = progressOn(false);
    progress.start('synth', 1000);
    for (let i = 0; i <= 999; i++) {
      clock.ms = i * 10;
      progress.update(i);
    }
    expect(screen.lines.map((line) => line.split(' ')[1])).toEqual(['0/1000', '500/1000']);
    progress.stop();
    progress.stop();
    expect(screen.lines.map((line) => line.split(' ')[1])).toEqual(['0/1000', '500/1000', '999/1000']);
  });

  it('a resumed job counts its rate from where it began', () => {
    const { screen, clock, progress } = progressOn(false);
    progress.start('train', 1000);
    progress.update(900);
    clock.ms = 100_000;
    // 10 in 100 s: 10 s each; 90 are left.
    progress.update(910);
    expect(screen.lines[1]).toBe('train: 910/1000 (91 %), 10 s each, ETA 15m00s');
  });

  it('shows no rate when nothing has been done, and no percentage of nothing', () => {
    const { screen, clock, progress } = progressOn(false);
    progress.start('empty', 0);
    progress.update(0);
    clock.ms = 6000;
    progress.update(0);
    expect(screen.lines).toEqual(['empty: 0/0', 'empty: 0/0']);
  });

  it('prints notes at once', () => {
    const { screen, progress } = progressOn(false);
    progress.note('checkpoint damaged');
    expect(screen.text).toBe('checkpoint damaged\n');
  });
});

describe('progress on a terminal', () => {
  it('draws a bar with the same figures', () => {
    const { screen, clock, progress } = progressOn(true);
    progress.start('grpo', 100);
    progress.update(0);
    clock.ms = 10_000;
    progress.update(25, { loss: 0.5 });
    progress.stop();
    // A quarter of 24 cells; 25 in 10 s are 2.5/s, and the other 75 take 30 s.
    expect(screen.drawn).toContain(`grpo ${'█'.repeat(6)}${'░'.repeat(18)} 25/100 2.5/s, ETA 30s, loss 0.5`);
  });

  it('a note takes a line of its own and the bar comes back below it', () => {
    const { screen, progress } = progressOn(true);
    progress.start('grpo', 4);
    progress.note('a note');
    const [before, after] = screen.text.split('a note\n');
    expect(before?.endsWith('\u001b[2K')).toBe(true);
    expect(after).toContain('grpo ');
    progress.stop();
  });

  it('never hides the cursor, which a killed process could not bring back', () => {
    const { screen, progress } = progressOn(true);
    progress.start('grpo', 4);
    progress.update(4);
    progress.stop();
    expect(screen.text).not.toContain('\u001b[?25l');
  });
});

describe('text of strangers in progress', () => {
  const hostile = 'a\u001b[2J\u202eb\nc';
  const shown = 'a\\x1b[2J\\u202eb\\nc';

  it('is shown by its escapes off a terminal: label, values and notes', () => {
    const { screen, progress } = progressOn(false);
    progress.start(hostile, 2);
    progress.update(1, { last: hostile });
    progress.note(hostile);
    progress.stop();
    expect(screen.lines).toEqual([`${shown}: 1/2 (50 %), last ${shown}`, shown]);
  });

  it('is shown by its escapes beside the bar', () => {
    const { screen, progress } = progressOn(true);
    progress.start(hostile, 2);
    progress.update(1, { last: hostile });
    progress.note(hostile);
    progress.stop();
    expect(screen.drawn).toContain(`\n${shown}\n`);
    expect(screen.drawn).toContain(`last ${shown}`);
    expect(screen.text).not.toContain('\u001b[2J');
    expect(screen.text).not.toContain('\u202e');
  });
});
