import { parseModelConfig, readModelConfig } from '../../src/model/index.ts';
import { trainingFlops } from '../../src/train/index.ts';
import type { Engines } from './contestants.ts';
import type { EngineProcess } from './engine-process.ts';
import { LANGUAGE_CONFIG, LANGUAGE_SHAPE } from './language.ts';
import { type Contestant, interleave, type Result, timesAsLong } from './measure.ts';
import { MINIATURE_MODEL, MINIATURE_SHAPE } from './miniature.ts';
import type { Task } from './protocol.ts';

export interface Ratio {
  /** Times as fast as the other engine, from the rounds measured one after the other. */
  onnxAgainst: string;
  ratio: number;
  target: number | undefined;
}

export interface CaseReport {
  title: string;
  task: Task;
  results: (Result & { rate: string })[];
  ratios: Ratio[];
  /** Whether the engines computed the same thing. */
  agreement: string[];
}

interface Effort {
  warmUp: number;
  rounds: number;
  repeats: number;
}

export interface CaseOptions {
  quick: boolean;
}

/** Of the miniature's sequences, about; only the response's tokens go through the head. */
const PROMPT_TOKENS = 40;

const QUICK: Effort = { warmUp: 1, rounds: 1, repeats: 1 };

export async function languageTraining(engines: Engines, { quick }: CaseOptions): Promise<CaseReport> {
  const { batch, length } = LANGUAGE_SHAPE;
  const effort = quick ? QUICK : { warmUp: 4, rounds: 7, repeats: 5 };
  const contestants = withEffort([engines.onnx, ...engines.torch], effort);
  // A step takes seconds here; warming up and two rounds of one step are as much as one wants to wait for.
  if (engines.wasm) contestants.push({ engine: engines.wasm, warmUp: quick ? 0 : 1, rounds: 2, repeats: 1 });
  const results = await interleave('language-training', contestants);
  const flops = trainingFlops(parseModelConfig(LANGUAGE_CONFIG), {
    rows: batch,
    length,
    scored: batch * (length - 1),
    images: 0,
    patches: 0,
  });
  return {
    title: `training step, language model L4 H192, ${batch} x ${length} tokens (${(flops / 1e9).toFixed(1)} GFLOP)`,
    task: 'language-training',
    results: rated(results, (ms) => `${(flops / ms / 1e6).toFixed(1)} GFLOP/s`),
    ratios: ratios(results, { wasm: 30, torch: 1 }),
    agreement: results.slice(1).map((other) => sameLosses(results[0]!, other)),
  };
}

export async function languageGeneration(engines: Engines, { quick }: CaseOptions): Promise<CaseReport> {
  const { rows, newTokens, promptLength } = LANGUAGE_SHAPE;
  const effort = quick ? QUICK : { warmUp: 2, rounds: 7, repeats: 2 };
  const contestants = withEffort([engines.onnx, ...engines.torch], effort);
  const results = await interleave('language-generation', contestants);
  const tokens = rows * newTokens;
  return {
    title: `generation, language model L4 H192, ${rows} rows, prompts of ${promptLength}, ${newTokens} new tokens, greedy`,
    task: 'language-generation',
    results: rated(results, (ms) => `${Math.round((1000 * tokens) / ms)} tokens/s`),
    ratios: ratios(results, { torch: 1.3 }),
    agreement: results.slice(1).map((other) => sameTokens(results[0]!, other, newTokens, rows)),
  };
}

export async function miniatureTraining(engines: Engines, { quick }: CaseOptions): Promise<CaseReport> {
  const { images, side, length } = MINIATURE_SHAPE;
  const effort = quick ? QUICK : { warmUp: 4, rounds: 5, repeats: 8 };
  const results = await interleave('miniature-training', withEffort([engines.onnx], effort));
  const config = await readModelConfig(`${MINIATURE_MODEL}/config.json`);
  const flops = trainingFlops(config, {
    rows: images,
    length: Math.ceil(length / 16) * 16,
    scored: images * (length - PROMPT_TOKENS),
    images,
    patches: (side / config.vision.patchSize) ** 2,
  });
  return {
    title: `training step, miniature Qwen2.5-VL, ${images} images ${side} x ${side}, ${length} tokens each (about ${(flops / 1e9).toFixed(1)} GFLOP)`,
    task: 'miniature-training',
    results: rated(
      results,
      (ms) => `${((1000 * images) / ms).toFixed(1)} images/s, about ${(flops / ms / 1e6).toFixed(1)} GFLOP/s`,
    ),
    ratios: [],
    agreement: [],
  };
}

export async function miniatureGeneration(engines: Engines, { quick }: CaseOptions): Promise<CaseReport> {
  const { images, samples, newTokens } = MINIATURE_SHAPE;
  const effort = quick ? QUICK : { warmUp: 2, rounds: 5, repeats: 2 };
  const results = await interleave('miniature-generation', withEffort([engines.onnx], effort));
  const rows = images * samples;
  return {
    title: `generation, miniature Qwen2.5-VL, ${images} images x ${samples} samples = ${rows} rows, ${newTokens} new tokens at temperature 1, vision and prompt included`,
    task: 'miniature-generation',
    results: rated(results, (ms) => `${Math.round((1000 * rows * newTokens) / ms)} tokens/s`),
    ratios: [],
    agreement: [],
  };
}

function withEffort(engines: readonly EngineProcess[], effort: Effort): Contestant[] {
  return engines.map((engine) => ({ engine, ...effort }));
}

function rated(results: readonly Result[], rate: (milliseconds: number) => string): CaseReport['results'] {
  return results.map((result) => ({ ...result, rate: rate(result.milliseconds) }));
}

/** Against WebAssembly, and against the faster of PyTorch's thread counts. */
function ratios([onnx, ...others]: readonly Result[], targets: { wasm?: number; torch: number }): Ratio[] {
  const wasm = others.find(({ engine }) => engine === 'wasm');
  const torch = others
    .filter(({ engine }) => engine.startsWith('torch'))
    .sort((a, b) => a.milliseconds - b.milliseconds)[0];
  const against = (other: Result | undefined, target: number | undefined): Ratio[] =>
    other === undefined
      ? []
      : [{ onnxAgainst: other.engine, ratio: timesAsLong(other, onnx!), target: target }];
  return [...against(wasm, targets.wasm), ...against(torch, targets.torch)];
}

/** The first steps start from the same weights; later ones drift apart by rounding. */
const COMPARED_STEPS = 2;

function sameLosses(ours: Result, other: Result): string {
  const steps = Math.min(COMPARED_STEPS, ours.evidence.length, other.evidence.length);
  const pairs = Array.from({ length: steps }, (_, i) => [ours.evidence[i]!, other.evidence[i]!] as const);
  const worst = Math.max(...pairs.map(([a, b]) => Math.abs(a - b) / Math.abs(b)));
  const shown = pairs.map(([a, b]) => `${a.toFixed(5)} / ${b.toFixed(5)}`).join(', ');
  const verdict = worst < 1e-4 ? '' : ': NOT THE SAME COMPUTATION';
  return `loss of the first ${steps} steps, onnx / ${other.engine}: ${shown}${verdict}`;
}

function sameTokens(ours: Result, other: Result, newTokens: number, rows: number): string {
  let same = 0;
  for (let row = 0; row < rows; row++) {
    const slice = (result: Result): string =>
      result.evidence.slice(row * newTokens, (row + 1) * newTokens).join();
    if (slice(ours) === slice(other)) same++;
  }
  return `rows with the same ${newTokens} tokens, onnx / ${other.engine}: ${same} of ${rows}`;
}
