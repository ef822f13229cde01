/**
 * `q-ponder eval correlate` as a script: SRCC, PLCC and KRCC of columns of any table of predictions.
 *   npx tsx eval/srcc-plcc.ts predictions.csv --pred score --mos mos [--by distortion] [--lower-better]
 */
import { Command } from 'commander';
import { evalCorrelateCommand } from '../src/cli/commands/eval-correlate.ts';
import { runMain } from '../src/cli/run-command.ts';

await runMain(async () => {
  const command = new Command('npx tsx eval/srcc-plcc.ts')
    .description(evalCorrelateCommand.summary)
    .showHelpAfterError('(add --help for what is allowed)')
    .exitOverride();
  evalCorrelateCommand.configure(command);
  await command.parseAsync();
});
