import { CommanderError } from 'commander';
import { asStorageError, ERROR_CODES, printable, printableBlock, QPonderError } from '../core/index.ts';

/** Exit code of a defect of ours, as against the documented codes of errors that a user can mend. */
const DEFECT_EXIT_CODE = 1;

const ISSUES_HINT = 'This is a defect of q-ponder, not of your input. Please report it with the lines above.';

/**
 * What an error means to the user: lines for standard error and an exit code. Known errors give a message
 * and a hint and never a stack trace; anything else is an internal error and gives its stack.
 */
export function describeError(error: unknown): { lines: string[]; exitCode: number } {
  if (error instanceof CommanderError) {
    // Commander has printed the help or the problem itself.
    return { lines: [], exitCode: error.exitCode === 0 ? 0 : ERROR_CODES.CONFIG };
  }
  const known = asStorageError(error, 'reading or writing');
  if (known instanceof QPonderError) {
    const lines = [printableBlock(`error: ${known.message}`)];
    // A storage error's own text names the path when the message does not.
    if (known !== error && error instanceof Error) lines.push(`  ${printable(error.message)}`);
    if (known.hint !== undefined) lines.push(printable(`hint: ${known.hint}`));
    return { lines, exitCode: known.exitCode };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { lines: [printableBlock(`internal error: ${stack}`), ISSUES_HINT], exitCode: DEFECT_EXIT_CODE };
}

function exitWith(error: unknown): void {
  const { lines, exitCode } = describeError(error);
  for (const line of lines) process.stderr.write(`${line}\n`);
  // Whatever else still runs (workers, timers, sockets) has lost its purpose; results already written go out.
  process.stdout.write('', () => process.exit(exitCode));
}

/** Runs the program in this process: errors become messages and exit codes, a closed pipe a quiet end. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // `q-ponder ... | head` has seen enough.
      if (error.code === 'EPIPE') process.exit(0);
      exitWith(error);
    });
  }
  process.on('uncaughtException', exitWith);
  process.on('unhandledRejection', exitWith);
  try {
    await main();
  } catch (error) {
    exitWith(error);
  }
}
