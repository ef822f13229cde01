import type { TextEnvironment, TextObservation } from '../../../src/env/text/index.ts';

/** Does all actions in turn and gives every observation, that of the reset first. */
export async function play(
  environment: TextEnvironment,
  task: number,
  actions: readonly string[],
  seed?: number,
): Promise<TextObservation[]> {
  const observations = [await environment.reset(task, seed)];
  for (const action of actions) observations.push(await environment.step(action));
  return observations;
}

export const texts = (observations: readonly TextObservation[]): string[] =>
  observations.map(({ text }) => text);
