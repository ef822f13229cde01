import { Command } from 'commander';
import { printableBlock } from '../core/index.ts';
import type { CommandDefinition } from './command.ts';

const GROUPS: Record<string, string> = {
  data: 'make and import data sets',
  train: 'train a model, stage by stage',
  eval: 'measure predictions and models',
  model: 'look into, convert and merge model folders',
  agent: 'environments for agents that act in turns',
};

/** Builds the program from its commands. Errors are thrown (CommanderError), nothing here ends the process. */
export function buildProgram(version: string, commands: readonly CommandDefinition[]): Command {
  const program = new Command('q-ponder')
    .description('Train vision-language models to judge image quality: reason first, then score.')
    .version(version, '-V, --version', 'print the version')
    .configureOutput({ outputError: (text, write) => write(printableBlock(text)) })
    .showHelpAfterError('(add --help for what is allowed)')
    .exitOverride();
  for (const definition of commands) {
    const name = definition.path.at(-1) as string;
    let parent = program;
    for (const word of definition.path.slice(0, -1)) {
      parent = parent.commands.find((child) => child.name() === word) ?? addGroup(parent, word);
    }
    const command = parent.command(name).description(definition.summary);
    definition.configure(command);
  }
  return program;
}

function addGroup(parent: Command, word: string): Command {
  return parent.command(word).description(GROUPS[word] ?? '');
}
