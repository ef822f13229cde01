import type { CommandDefinition } from '../command.ts';
import { dataImportCommand } from './data-import.ts';
import { dataSynthCommand } from './data-synth.ts';
import { distillCommand } from './distill.ts';
import { evalCorrelateCommand } from './eval-correlate.ts';
import { versionCommand } from './version.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandDefinition[] = [
  dataSynthCommand,
  dataImportCommand,
  distillCommand,
  evalCorrelateCommand,
  versionCommand,
];
