#!/usr/bin/env node
import { COMMANDS } from './commands/index.ts';
import { packageInfo } from './package-info.ts';
import { buildProgram } from './program.ts';
import { runMain } from './run-command.ts';

await runMain(async () => {
  await buildProgram(packageInfo().version, COMMANDS).parseAsync();
});
