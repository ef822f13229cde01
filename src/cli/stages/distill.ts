import { join, resolve } from 'node:path';
import { ConfigError, InputError, RemoteError, writeFileAtomic } from '../../core/index.ts';
import { loadDataset, loadShippedPrompt, SPLITS } from '../../data/index.ts';
import {
  type Distillation,
  distill,
  distillIdentity,
  distillMarkdown,
  distillPage,
  estimateDistillation,
  readAnswers,
  refuseJournal,
  type Teacher,
  type TeachingRecord,
  teachingRecord,
  writeManifest,
} from '../../teacher/index.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage, StageContext } from '../stage-command.ts';
import { type DistillConfig, distillConfigSchema } from './distill-config.ts';
import { costOf, KEY_VARIABLE, keyOfTeacher, questionsOf, teacherOf } from './distill-teacher.ts';

export { type DistillConfig, distillConfigSchema } from './distill-config.ts';

async function recordsOf(config: DistillConfig, note: (line: string) => void): Promise<TeachingRecord[]> {
  const { records } = await loadDataset(config.dataset);
  const chosen = records.filter(({ split }) => config.splits.includes(split));
  const judged = chosen.filter(({ mos }) => mos !== null);
  if (judged.length === 0) {
    throw new InputError(
      `${config.dataset} has no image with a score in the split(s) ${config.splits.join(', ')}`,
      { hint: `set splits to some of ${SPLITS.join(', ')}` },
    );
  }
  if (judged.length < chosen.length) {
    note(`${chosen.length - judged.length} images without a score are left out`);
  }
  return judged.map(teachingRecord);
}

async function writeReports(
  made: Distillation,
  teacher: Teacher,
  records: readonly TeachingRecord[],
  config: DistillConfig,
): Promise<void> {
  const identity = distillIdentity(teacher, records);
  const cost = costOf(made.report.tokens, config.http.prices);
  const { dataset } = config;
  await writeFileAtomic(join(config.output, 'report.md'), distillMarkdown(made));
  await writeFileAtomic(
    join(config.output, 'report.html'),
    await distillPage(made, { dataset, identity, cost }),
  );
  await writeManifest(config.output, made, {
    identity,
    dataset,
    splits: config.splits,
    codeVersion: packageInfo().version,
    retryRejected: config.retryRejected,
    cost,
  });
}

function printResult({ report }: Distillation, config: DistillConfig, print: (line: string) => void): void {
  const path = join(config.output, 'accepted.jsonl');
  print(`${path}: ${report.accepted} of ${report.asked} answers accepted`);
  const { keep, perImage, selected } = report.selection;
  if (keep !== 'all') print(`  of these selected: ${selected} (${keep}, ${perImage} of each image)`);
  for (const [reason, count] of Object.entries(report.byReason)) {
    if (count > 0) print(`  refused for ${reason}: ${count}`);
  }
  if (report.failed.length > 0) {
    print(`  no answer: ${report.failed.length} (see ${join(config.output, 'report.json')})`);
  }
  if (config.teacher !== 'http') return;
  const { prompt, completion } = report.tokens;
  const cost = costOf(report.tokens, config.http.prices);
  const kept = report.keptFromBefore > 0 ? `, ${report.keptFromBefore} from before` : '';
  const price = cost === null ? '' : `, cost ${cost.toFixed(4)}`;
  print(`  ${report.answers} answers${kept}: ${prompt} prompt and ${completion} completion tokens${price}`);
}

/** What ended the asking, in words about this command. */
function stopOf({ stoppedBy, report }: Distillation): RemoteError | undefined {
  if (stoppedBy === undefined) return undefined;
  const { reason, status, message } = stoppedBy;
  const done = `${report.asked - report.missing} of ${report.asked} places for answers are filled`;
  const again = 'the same command continues';
  if (reason === 'budget') {
    return new RemoteError(`the budget is spent: ${done}`, {
      reason,
      hint: `raise --budget or --budget-tokens (both count earlier runs into the same folder): ${again}`,
    });
  }
  const keyless = reason === 'authentication' && keyOfTeacher() === undefined;
  const hint = keyless
    ? `put the key into the environment variable ${KEY_VARIABLE}; then ${again}`
    : `${stoppedBy.hint ?? 'mend the cause'}; then ${again}`;
  return new RemoteError(`${message}; ${done}`, { reason, status, hint });
}

export const distillStage: Stage<DistillConfig> & {
  plan(config: DistillConfig, context: Pick<StageContext, 'print'>): Promise<void>;
} = {
  schema: distillConfigSchema,
  async run(config, { progress, signal, print }) {
    const note = (line: string): void => progress.note(line);
    if (resolve(config.output) === resolve(config.dataset)) {
      throw new ConfigError(`the output folder is the data set folder ${config.dataset}`, {
        hint: 'choose a folder of its own with --out',
      });
    }
    const records = await recordsOf(config, note);
    signal.throwIfAborted();
    const prompt = await loadShippedPrompt(config.prompt);
    const teacher = await teacherOf(config, records, signal, note);
    const paid = config.teacher === 'http';
    if (!paid) await refuseJournal(config.output);
    const file = (name: string): string => join(config.output, name);
    const made = await distill(records, teacher, config.filters, {
      prompt,
      // More in preparation than in flight, so that no request waits for a picture; the client keeps the limit.
      concurrency: paid ? 2 * config.concurrency : config.concurrency,
      answersPerImage: config.answersPerImage,
      retryRejected: config.retryRejected,
      selection: config.selection,
      maxFailureShare: config.maxFailureShare,
      onWritten: (written) => writeReports(written, teacher, records, config),
      output: {
        accepted: file('accepted.jsonl'),
        rejected: file('rejected.jsonl'),
        unselected: file('unselected.jsonl'),
        report: file('report.json'),
      },
      ...(paid ? { journal: config.output } : {}),
      progress,
      signal,
    });
    printResult(made, config, print);
    const stop = stopOf(made);
    if (stop !== undefined) throw stop;
  },

  /** For --dry-run: what asking would need, without asking. */
  async plan(config, { print }) {
    if (config.teacher !== 'http') return;
    const records = await recordsOf(config, () => undefined);
    const options = await questionsOf(config);
    const perImage = options.prompts.reduce((sum, { samples }) => sum + samples, 0);
    const known = await readAnswers(config.output);
    const questions = records.flatMap((record) =>
      Array.from({ length: perImage }, (_, sample) => ({ record, sample })).filter(
        ({ sample }) => known.get(record.id, sample) === undefined,
      ),
    );
    const estimate = await estimateDistillation(questions, options, config.http.prices ?? undefined);
    const answered = records.length * perImage - questions.length;
    print(
      `# ${records.length} images, ${perImage} answers of each: ${questions.length} questions to ask, ${answered} answered before`,
    );
    print(
      `# about ${estimate.promptTokens} prompt tokens and ${estimate.completionTokens} completion tokens (${estimate.completionTokensAtMost} at most)`,
    );
    print(
      estimate.cost === null || estimate.costAtMost === null
        ? '# cost unknown: give http.prices, the price of a million prompt and completion tokens'
        : `# cost about ${estimate.cost.toFixed(4)}, ${estimate.costAtMost.toFixed(4)} if every answer is as long as allowed`,
    );
    if (config.retryRejected > 0) print('# questions that are asked again for rejected answers come on top');
  },
};
