import type { Completion } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import {
  appendTokens,
  collate,
  forward,
  languageHead,
  type Network,
  responseLogProbabilities,
  type Sequence,
} from '../../src/model/index.ts';

/** Logits [vocabulary] after a sequence, by the whole training forward pass on it alone. */
export async function logitsAfter(network: Network, sequence: Sequence): Promise<number[]> {
  const { hiddenSize } = network.config.text;
  const batch = collate([sequence], network.config);
  const logits = tf.tidy(() => {
    const last = tf.slice(forward(network, batch), [0, sequence.tokenIds.length - 1, 0], [1, 1, hiddenSize]);
    const hidden = tf.reshape(last, [1, hiddenSize]) as tf.Tensor2D;
    return languageHead(network.parameters, network.config.text, hidden);
  });
  const values = [...(await logits.data())];
  logits.dispose();
  return values;
}

/** exp(logits / temperature) over the allowed tokens, summing to 1; in double precision. */
export function distribution(logits: number[], temperature: number, banned: readonly number[]): number[] {
  const top = Math.max(...logits.filter((_, id) => !banned.includes(id)));
  const masses = logits.map((x, id) => (banned.includes(id) ? 0 : Math.exp((x - top) / temperature)));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => mass / total);
}

/** Greedy decoding without any cache: the whole sequence is run again for every token. */
export async function greedyUncached(
  network: Network,
  prompt: Sequence,
  steps: number,
  options: { banned: readonly number[]; ends: readonly number[]; penalty?: number },
): Promise<number[]> {
  const { penalty = 1 } = options;
  const made: number[] = [];
  while (made.length < steps && !options.ends.includes(made.at(-1) ?? -1)) {
    const logits = await logitsAfter(network, appendTokens(prompt, made, 'action'));
    const there = new Set([...prompt.tokenIds, ...made]);
    const allowed = logits.map((x, id) => {
      if (options.banned.includes(id)) return Number.NEGATIVE_INFINITY;
      if (!there.has(id)) return x;
      return x < 0 ? x * penalty : x / penalty;
    });
    made.push(allowed.indexOf(Math.max(...allowed)));
  }
  return made;
}

/** Log-probabilities that training computes for completions, completion by completion. */
export async function trainingLogProbabilities(
  network: Network,
  prompts: readonly Sequence[],
  completions: readonly (readonly Completion[])[],
  options: { temperature: number; bannedTokenIds: readonly number[] },
): Promise<number[][]> {
  const sequences = prompts.flatMap((prompt, i) =>
    completions[i]!.map(({ tokenIds }) => appendTokens(prompt, tokenIds, 'action')),
  );
  const batch = collate(sequences, network.config);
  const scores = tf.tidy(() => responseLogProbabilities(network, batch, options).logProbabilities);
  const values = await scores.data();
  scores.dispose();
  const result: number[][] = sequences.map(() => []);
  for (let i = 0; i < batch.actions.count; i++) result[batch.actions.sequences[i]!]!.push(values[i]!);
  return result;
}

/** Sum of (observed - expected)^2 / expected over outcomes of positive probability. */
export function chiSquare(counts: readonly number[], probabilities: readonly number[]): number {
  const n = counts.reduce((sum, count) => sum + count, 0);
  return probabilities.reduce((sum, p, i) => (p === 0 ? sum : sum + (counts[i]! - n * p) ** 2 / (n * p)), 0);
}
