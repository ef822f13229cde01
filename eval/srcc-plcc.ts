/**
 * SRCC, PLCC and KRCC of any CSV of predictions:
 *   npx tsx eval/srcc-plcc.ts predictions.csv --pred score --mos mos [--by distortion] [--lower-better]
 *     [--fit logistic4|logistic5|none] [--delimiter ";"] [--resamples 1000] [--json out.json]
 */
import { parseArgs } from 'node:util';
import { ConfigError, QPonderError } from '../src/core/index.ts';
import { correlateFile, formatCorrelation } from '../src/evaluate/index.ts';

const FITS = ['logistic4', 'logistic5', 'none'] as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pred: { type: 'string' },
      mos: { type: 'string' },
      by: { type: 'string' },
      'lower-better': { type: 'boolean', default: false },
      fit: { type: 'string', default: 'logistic4' },
      delimiter: { type: 'string', default: ',' },
      resamples: { type: 'string', default: '1000' },
      json: { type: 'string' },
    },
  });
  const [path, ...more] = positionals;
  const { pred, mos, by, json } = values;
  const fit = FITS.find((name) => name === values.fit);
  const resamples = Number(values.resamples);
  if (path === undefined || more.length > 0 || pred === undefined || mos === undefined) {
    throw new ConfigError('one CSV file, --pred and --mos are needed', {
      hint: 'npx tsx eval/srcc-plcc.ts predictions.csv --pred score --mos mos',
    });
  }
  if (fit === undefined) throw new ConfigError(`--fit got "${values.fit}", allowed is ${FITS.join(', ')}`);
  if (!Number.isInteger(resamples) || resamples < 0) {
    throw new ConfigError(`--resamples got "${values.resamples}", allowed is a whole number from 0`);
  }
  const report = await correlateFile({
    path,
    prediction: pred,
    target: mos,
    fit,
    resamples,
    lowerBetter: values['lower-better'],
    delimiter: values.delimiter,
    ...(by === undefined ? {} : { by }),
    ...(json === undefined ? {} : { json }),
  });
  console.log(formatCorrelation(report));
}

try {
  await main();
} catch (error) {
  const usage = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true;
  if (!(error instanceof QPonderError) && !usage) throw error;
  const problem = error instanceof QPonderError ? error : new ConfigError((error as Error).message);
  console.error(`error: ${problem.message}${problem.hint === undefined ? '' : `\n${problem.hint}`}`);
  process.exitCode = problem.exitCode;
}
