import { type Completion, EngineError, type Tokenizer } from '../core/index.ts';

/** Gathers the tokens of each row up to its end-of-sequence token. */
export class CompletionCollector {
  readonly #tokenizer: Tokenizer;
  readonly #endIds: ReadonlySet<number>;
  readonly #rows: { tokenIds: number[]; logProbabilities: number[]; ended: boolean }[];

  /** @param endIds tokens that end an answer; default the tokenizer's own */
  constructor(tokenizer: Tokenizer, rows: number, endIds: Iterable<number> = tokenizer.endOfSequenceIds) {
    this.#tokenizer = tokenizer;
    this.#endIds = new Set(endIds);
    this.#rows = Array.from({ length: rows }, () => ({ tokenIds: [], logProbabilities: [], ended: false }));
  }

  /** Adds [steps, size] tokens; true once every row has ended. */
  add(steps: number, size: number, tokens: Int32Array, logProbabilities: Float32Array): boolean {
    for (let at = 0; at < steps * size; at += size) {
      this.#rows.forEach((row, index) => {
        if (row.ended) return;
        const logProbability = logProbabilities[at + index]!;
        if (!Number.isFinite(logProbability))
          throw new EngineError(`the model gave a token the log-probability ${logProbability}`, {
            hint: 'its weights hold NaN or infinite numbers; go back to an earlier checkpoint',
          });
        row.tokenIds.push(tokens[at + index]!);
        row.logProbabilities.push(logProbability);
        row.ended = this.#endIds.has(tokens[at + index]!);
      });
    }
    return this.#rows.every((row) => row.ended);
  }

  completions(): Completion[] {
    return this.#rows.map(({ tokenIds, logProbabilities, ended }) => ({
      tokenIds,
      logProbabilities,
      text: this.#tokenizer.decode(tokenIds),
      finishReason: ended ? 'stop' : 'length',
    }));
  }
}
