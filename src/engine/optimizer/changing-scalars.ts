import * as tf from '@tensorflow/tfjs';

/**
 * Rank-0 float32 tensors of host numbers that differ from step to step (learning rate, bias correction).
 *
 * They travel as one rank-1 tensor that is never uniform, because a compiling backend may fold a lone 0 or 1,
 * or a uniform tensor, into the graph: a learning rate that reaches 0 would then compile it anew.
 *
 * @param values one finite number per name; the order of names is part of the graph
 * @returns one rank-0 tensor per name; call inside `tf.tidy`
 */
export function changingScalars<Name extends string>(
  values: Readonly<Record<Name, number>>,
): Record<Name, tf.Scalar> {
  const names = Object.keys(values) as Name[];
  const numbers = names.map((name) => values[name]);
  const unlike = numbers[0] === 0 ? 1 : 0;
  const packed = tf.tensor1d([...numbers, unlike], 'float32');
  const result = {} as Record<Name, tf.Scalar>;
  names.forEach((name, i) => {
    result[name] = tf.slice1d(packed, i, 1).reshape([]) as tf.Scalar;
  });
  return result;
}
