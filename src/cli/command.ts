import type { Command } from 'commander';

/** One command of the command line. Its module is light: what it runs is imported when it runs. */
export interface CommandDefinition {
  /** Words of the command, for example ['train', 'grpo']. */
  path: readonly [string, ...string[]];
  summary: string;
  /** Adds arguments, options and the action to the empty command. */
  configure(command: Command): void;
}
