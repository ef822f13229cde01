import {
  ConfigError,
  type Progress,
  RemoteError,
  type RemoteReason,
  silentProgress,
} from '../../../core/index.ts';
import { type Prompt, renderPrompt } from '../../../data/index.ts';
import type { ChatClient, ChatPart, ChatUsage } from '../../../remote/index.ts';
import { pictureOf, requireEvidence, truthInWords } from './evidence.ts';
import {
  hashOfSet,
  type Journal,
  type Judgement,
  type JudgingIdentity,
  journalInMemory,
  openJournal,
} from './journal.ts';
import { readGrades, readVerdicts } from './reply.ts';
import { type DescriptionSet, type JudgeMode, type JudgeTask, judgeTasks } from './tasks.ts';

export interface JudgeOptions {
  mode: JudgeMode;
  /** Best grade of an axis, 2 or 10 as a rule; grades are whole numbers from 0. */
  highest: number;
  /** Replies about each description (and order). */
  samples: number;
  temperature: number;
  maxTokens: number;
  /** Sample k is asked with the seed `seed + k`. */
  seed: number;
  /** Shows the pictures too; paths are relative to this folder. Null: the judge reads what is known, and sees nothing. */
  pictures: string | null;
  prompt: Prompt;
  /** Questions in flight. The client has limits of its own. */
  concurrency: number;
  /** Folder of the replies; null keeps them in memory. */
  folder: string | null;
  progress?: Progress;
}

export interface Judging {
  identity: JudgingIdentity;
  /** In the order of the tasks. */
  judgements: Judgement[];
  asked: number;
  /** Of the judgements, those that an earlier process had. */
  kept: number;
  /** Tasks without a reply, by reason; the same judging asks them again. */
  failed: Partial<Record<RemoteReason, number>>;
  /** What the first question without a reply met. */
  firstFailure: RemoteError | null;
  /** The error that ended it early, if one did. */
  stoppedBy: RemoteError | null;
  /** What the client counted since it was made: tokens, retries, failures. */
  usage: ChatUsage;
}

/** Of no use to go on: every other question would fail the same way. */
const FINAL: readonly RemoteReason[] = ['authentication', 'not-found', 'budget'];
/** So many failures in a row are taken for a server that is gone. */
const MOST_FAILURES_IN_A_ROW = 10;

/**
 * Asks a judge about every description (or pair, in both orders) that has no reply yet. Replies that hold no
 * grades are kept as such; questions without a reply are counted and left for the next run.
 */
export async function judgeDescriptions(
  sets: readonly DescriptionSet[],
  judge: ChatClient,
  options: JudgeOptions,
): Promise<Judging> {
  const { mode, samples, temperature, progress = silentProgress, prompt } = options;
  if (samples > 1 && temperature === 0) {
    throw new ConfigError(`${samples} samples at temperature 0 would be one reply ${samples} times`, {
      hint: 'raise the temperature, or take one sample',
    });
  }
  const tasks = judgeTasks(mode, sets, samples);
  requireEvidence(
    tasks.map(({ about }) => about),
    options.pictures !== null,
  );
  const identity: JudgingIdentity = {
    judge: { address: judge.address, model: judge.model },
    prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
    mode,
    highest: options.highest,
    samples,
    temperature,
    maxTokens: options.maxTokens,
    seed: options.seed,
    pictures: options.pictures !== null,
    sets: sets.map((set) => ({ name: set.name, model: set.model ?? null, sha256: hashOfSet(set) })),
  };
  const journal = options.folder === null ? journalInMemory() : await openJournal(options.folder, identity);
  const kept = journal.kept.size;
  progress.start(`judge (${judge.model})`, tasks.length);
  try {
    const outcome = await askAll(tasks, judge, journal, options, progress);
    const judgements = await journal.finish(tasks);
    return { identity, judgements, asked: tasks.length, kept, usage: judge.usage(), ...outcome };
  } finally {
    progress.stop();
    await journal.close();
  }
}

async function askAll(
  tasks: readonly JudgeTask[],
  judge: ChatClient,
  journal: Journal,
  options: JudgeOptions,
  progress: Progress,
): Promise<Pick<Judging, 'failed' | 'firstFailure' | 'stoppedBy'>> {
  const failed: Judging['failed'] = {};
  const open = tasks.filter(({ key }) => !journal.kept.has(key));
  let next = 0;
  let inARow = 0;
  let firstFailure: RemoteError | null = null;
  let stoppedBy: RemoteError | null = null;
  let broken: unknown;
  const work = async (): Promise<void> => {
    while (next < open.length && stoppedBy === null && broken === undefined) {
      const task = open[next++] as JudgeTask;
      try {
        await journal.append(await askOne(task, judge, options));
        inARow = 0;
        progress.update(journal.kept.size);
      } catch (error) {
        // Answers in flight are kept before anything is thrown.
        if (!(error instanceof RemoteError)) broken ??= error;
        else {
          failed[error.reason] = (failed[error.reason] ?? 0) + 1;
          firstFailure ??= error;
          inARow++;
          if (FINAL.includes(error.reason) || inARow >= MOST_FAILURES_IN_A_ROW) stoppedBy ??= error;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.concurrency) }, work));
  if (broken !== undefined) throw broken;
  return { failed, firstFailure, stoppedBy };
}

async function askOne(task: JudgeTask, judge: ChatClient, options: JudgeOptions): Promise<Judgement> {
  const { key, set, id, sample, swapped, about, shown } = task;
  const [first, second] = shown;
  const withPicture = options.pictures !== null && about.image !== undefined;
  const truth = truthInWords(about, withPicture);
  const scale = options.prompt.slots.includes('highest') ? { highest: String(options.highest) } : {};
  const values =
    second === undefined
      ? { truth, description: first.text ?? '', ...scale }
      : { truth, first: first.text ?? '', second: second.text ?? '' };
  const content: ChatPart[] = [{ type: 'text', text: renderPrompt(options.prompt, values).text }];
  if (withPicture) content.unshift({ type: 'image', url: await pictureOf(about, options.pictures ?? '') });
  const row = { key, set, id, sample, swapped };
  try {
    const [answer] = await judge.ask({
      messages: [{ role: 'user', content }],
      temperature: options.temperature,
      maxTokens: options.maxTokens,
      seed: options.seed + sample,
    });
    const { text: reply = '', finishReason = 'unknown' } = answer ?? {};
    return { ...row, ...read(reply, options), reply, finishReason };
  } catch (error) {
    if (!(error instanceof RemoteError) || error.reason !== 'refused') throw error;
    return { ...row, status: 'refused', problem: error.message, reply: '', finishReason: 'refused' };
  }
}

function read(
  reply: string,
  { mode, highest }: JudgeOptions,
): Pick<Judgement, 'status' | 'grades' | 'verdicts' | 'problem'> {
  if (mode === 'grade') {
    const grades = readGrades(reply, highest);
    return 'problem' in grades ? { status: 'unparsable', ...grades } : { status: 'ok', grades: grades.value };
  }
  const verdicts = readVerdicts(reply);
  return 'problem' in verdicts
    ? { status: 'unparsable', ...verdicts }
    : { status: 'ok', verdicts: verdicts.value };
}
