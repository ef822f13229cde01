import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError, InputError } from '../../../src/core/index.ts';
import { EnvironmentFailure, TEXT_FAMILIES, textFamily } from '../../../src/env/text/index.ts';
import { play, texts } from './play.ts';

const families = Object.entries(TEXT_FAMILIES);

describe.each(families)('%s', (name, family) => {
  const task = Math.floor(family.tasks / 2);
  const expert = family.expert(task, 3) ?? [];

  it('goes by its own name', () => {
    expect(family.name).toBe(name);
    expect(textFamily(name)).toBe(family);
  });

  it('is deterministic: task, seed and actions make the episode', async () => {
    const first = await play(family.create(), task, expert, 3);
    const again = family.create();
    await play(again, task, ['nonsense'], 8);
    expect(await play(again, task, expert, 3)).toEqual(first);
  });

  it('keeps 2,000 episodes apart that are played at once', async () => {
    const episodes = Array.from({ length: 2000 }, (_, i) => {
      const own = i % family.tasks;
      return { own, environment: family.create(), actions: family.expert(own, i) ?? [], seen: [''] };
    });
    for (const [i, { own, environment, seen }] of episodes.entries()) {
      seen[0] = (await environment.reset(own, i)).text;
    }
    const longest = Math.max(...episodes.map(({ actions }) => actions.length));
    for (let step = 0; step < longest; step++) {
      await Promise.all(
        episodes.map(async ({ environment, actions, seen }) => {
          const action = actions[step];
          if (action !== undefined) seen.push((await environment.step(action)).text);
        }),
      );
    }
    for (const [i, { own, actions, seen }] of episodes.entries()) {
      if (i % 20 === 0) expect(seen).toEqual(texts(await play(family.create(), own, actions, i)));
    }
  });

  it('answers any action in words', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('get', 'craft', 'using', 'inventory', 'move', 'left', '1', '0', '-1', '999999', ','),
      fc.constantFrom('stick', 'planks', 'ash log', '__proto__', 'constructor', 's h i r e', 'about'),
    );
    const action = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const environment = family.create();
        let observation = await environment.reset(task);
        for (const one of actions) {
          if (observation.done) break;
          observation = await environment.step(one);
          expect(observation.text).not.toBe('');
          expect([-1, 0, 1]).toContain(observation.reward);
        }
      }),
      { numRuns: 60, seed: 7 },
    );
  });

  it('explains each action of its expert', () => {
    expect(family.reasons?.(task, 3)?.length).toBe(expert.length);
  });

  it.each([-1, family.tasks, 0.5, Number.NaN])('has no task %s', async (wrong) => {
    await expect(family.create().reset(wrong)).rejects.toThrow(InputError);
    expect(() => family.expert(wrong)).toThrow(InputError);
    expect(() => family.group(wrong)).toThrow(InputError);
  });

  it('refuses a step before the reset, after the end and after close, as failures of the environment', async () => {
    const environment = family.create();
    const failure = (why: string) =>
      expect.objectContaining({ reason: 'state', environment: name, message: expect.stringContaining(why) });
    await expect(environment.step('x')).rejects.toThrow(EnvironmentFailure);
    await expect(environment.step('x')).rejects.toEqual(failure('not reset'));
    await play(environment, task, expert, 3);
    await expect(environment.step('x')).rejects.toEqual(failure('is over'));
    expect(await environment.availableActions()).toEqual([]);
    await environment.reset(task);
    await environment.close();
    await expect(environment.step('x')).rejects.toEqual(failure('closed'));
    await expect(environment.reset(task)).rejects.toEqual(failure('closed'));
  });
});

describe('textFamily', () => {
  it.each(['webshop', '', 'constructor'])('has no "%s" and says what there is', (name) => {
    expect(() => textFamily(name)).toThrow(ConfigError);
    expect(() => textFamily(name)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/textcraft, .*maze, .*wordle/) }),
    );
  });
});
