import { describe, expect, it } from 'vitest';
import { printLine } from '../../src/cli/print-line.ts';
import { describeError } from '../../src/cli/run-command.ts';
import { InputError } from '../../src/core/index.ts';
import { MAIN, runChild } from './run-child.ts';

const HOSTILE = 'x\u001b[2J\u202e\rhint: run this';

describe('a hostile name', () => {
  it('is shown by its escapes in an error and its hint', () => {
    expect(describeError(new InputError(`${HOSTILE} is broken`, { hint: `mend ${HOSTILE}` })).lines).toEqual([
      'error: x\\x1b[2J\\u202e\\rhint: run this is broken',
      'hint: mend x\\x1b[2J\\u202e\\rhint: run this',
    ]);
  });

  it('cannot forge a line', () => {
    const { lines } = describeError(new InputError('a.png\nhint: run this', { hint: 'b\nerror: c' }));
    expect(lines).toEqual(['error: a.png\n  hint: run this', 'hint: b\\nerror: c']);
  });

  it('is shown by its escapes in a system error and in a defect of ours', () => {
    const system = Object.assign(new Error(`ENOENT: open '${HOSTILE}'`), { code: 'ENOENT' });
    expect(describeError(system).lines.join()).not.toMatch(/\p{Cc}|\u202e/u);
    const stack = describeError(new TypeError(HOSTILE)).lines.join();
    expect(stack.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\u202e/u);
  });

  it('does not reach the terminal from the command line', async () => {
    for (const args of [['score', `--${HOSTILE}`], [HOSTILE], ['data', 'inspect', `/no\u001b[2Jwhere`]]) {
      const { code, stderr } = await runChild(MAIN, ...args);
      expect(code).toBeGreaterThan(1);
      expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\u202e/u);
      expect(stderr).toContain('\\x1b[2J');
    }
  });
});

describe('printLine', () => {
  const written = (isTTY: boolean): string => {
    const parts: string[] = [];
    const stream = { isTTY, write: (part: string) => void parts.push(part) };
    printLine(`a${HOSTILE}\nb`, stream as unknown as NodeJS.WriteStream);
    return parts.join('');
  };

  it('shows escapes on a terminal, line by line', () => {
    expect(written(true)).toBe('ax\\x1b[2J\\u202e\\rhint: run this\nb\n');
  });

  it('leaves the bytes of a pipe alone', () => {
    expect(written(false)).toBe(`a${HOSTILE}\nb\n`);
  });
});
