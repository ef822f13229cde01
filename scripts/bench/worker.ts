/** The process of one of our engines: `worker.ts onnx|wasm THREADS SETUP_FOLDER`. */
import { createInterface } from 'node:readline';
import { Rng } from '../../src/core/index.ts';
import { AdamW, startEngine, stopEngine, type tf } from '../../src/engine/index.ts';
import { type Batch, crossEntropy, generate, type Network, type Sequence } from '../../src/model/index.ts';
import { type Trainee, update } from '../../src/train/update.ts';
import { type LanguageCase, loadLanguageCase } from './language.ts';
import { loadMiniatureCase, MINIATURE_SHAPE, type MiniatureCase } from './miniature.ts';
import { ANSWER_PREFIX, type Answer, READY_PREFIX, type Ready, type Request, type Task } from './protocol.ts';
import { startWasm } from './wasm.ts';

/** Makes one step or generation; what it returns is evidence. */
type Work = () => Promise<number[]>;

const [backend, threads, folder] = process.argv.slice(2) as [string, string, string];
const description = backend === 'wasm' ? await startWasm() : await startOnnx(Number(threads));
const language = await loadLanguageCase(folder);
const works = new Map<Task, Work>();

print(READY_PREFIX, { description });
for await (const line of createInterface({ input: process.stdin })) {
  const { task, repeats } = JSON.parse(line) as Request;
  print(ANSWER_PREFIX, await timed(await workOf(task), repeats));
}
stopEngine();

function print(prefix: string, content: Ready | Answer): void {
  process.stdout.write(`${prefix}${JSON.stringify(content)}\n`);
}

async function startOnnx(count: number): Promise<string> {
  const { runtime, threads } = await startEngine({ backend: 'onnx', threads: count });
  return `${runtime}, ${threads} thread${threads > 1 ? 's' : ''}`;
}

async function timed(work: Work, repeats: number): Promise<Answer> {
  const milliseconds: number[] = [];
  const processorMilliseconds: number[] = [];
  const evidence: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const start = performance.now();
    const used = process.cpuUsage();
    const seen = await work();
    milliseconds.push(performance.now() - start);
    const { user, system } = process.cpuUsage(used);
    processorMilliseconds.push((user + system) / 1000);
    evidence.push(...seen);
  }
  return { milliseconds, processorMilliseconds, evidence };
}

async function workOf(task: Task): Promise<Work> {
  const made = works.get(task) ?? (await makeWork(task));
  works.set(task, made);
  return made;
}

async function makeWork(task: Task): Promise<Work> {
  if (task === 'language-training')
    return trainingOf(language, language.model, language.model.parameters, language.batches);
  if (task === 'language-generation') return languageGeneration(language);
  const miniature = await loadMiniatureCase();
  if (task === 'miniature-training')
    return trainingOf(language, miniature.model, miniature.model.parameters, [miniature.batch]);
  return miniatureGeneration(miniature);
}

/** The optimiser step of the product's own training stages. */
function trainingOf(
  { setup }: LanguageCase,
  network: Network,
  parameters: ReadonlyMap<string, tf.Variable>,
  batches: readonly Batch[],
): Work {
  const { betas, epsilon, weightDecay, clipNorm, learningRate } = setup;
  const optimizer = new AdamW(parameters, { betas, epsilon, weightDecay, maxGradientNorm: clipNorm });
  const trainee: Trainee = { parameters, optimizer };
  let step = 0;
  return async () => {
    const batch = batches[step++ % batches.length]!;
    const { loss } = await update(trainee, learningRate, [
      () => {
        const { sum, count } = crossEntropy(network, batch);
        return { loss: sum.div(count) as tf.Scalar };
      },
    ]);
    return [loss];
  };
}

function languageGeneration({ model, prompts, setup }: LanguageCase): Work {
  return async () => {
    const completions = await generate(model, prompts, {
      maxNewTokens: setup.newTokens,
      temperature: 0,
      rng: new Rng(1),
      bannedTokenIds: setup.bannedTokenIds,
    });
    return completions.flat().flatMap(({ tokenIds }) => tokenIds);
  };
}

function miniatureGeneration({ model, prompts }: MiniatureCase): Work {
  const samples: readonly Sequence[] = prompts;
  return async () => {
    const completions = await generate(model, samples, {
      samplesPerPrompt: MINIATURE_SHAPE.samples,
      maxNewTokens: MINIATURE_SHAPE.newTokens,
      temperature: 1,
      rng: new Rng(1),
      // An untrained model would end at random; every row is to have its full length.
      bannedTokenIds: model.tokenizer.endOfSequenceIds,
    });
    return completions.flat().flatMap(({ tokenIds }) => tokenIds);
  };
}
