import type { Prediction } from '../../src/evaluate/index.ts';

/** A well-formed answer with the given differences. */
export function prediction(
  id: string,
  mos: number,
  score: number | null,
  over: Partial<Prediction> = {},
): Prediction {
  return {
    id,
    image: `${id}.png`,
    mos,
    split: 'test',
    dataset: 'made-up',
    score,
    status: score === null ? 'missing-answer' : 'ok',
    text: `<think>${id}</think><answer>${score ?? ''}</answer>`,
    distortionsNamed: [],
    wellFormed: score !== null,
    finishReason: 'stop',
    ...over,
  };
}
