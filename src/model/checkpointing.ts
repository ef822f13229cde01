import type { tf } from '../engine/index.ts';

/** Trained variables of the block whose names begin so: the block is computed a second time in the backward pass. */
export type Checkpointing = (prefix: string) => readonly tf.Variable[];

/** Checkpointing of a network of which these variables, by name, are trained. */
export const checkpointingOf =
  (trained: ReadonlyMap<string, tf.Variable>): Checkpointing =>
  (prefix) =>
    [...trained].flatMap(([name, variable]) => (name.startsWith(prefix) ? [variable] : []));
