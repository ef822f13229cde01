import type { TextEnvironmentFamily } from '../../../../src/env/index.ts';
import { worldEnvironment } from '../../../../src/env/text/world.ts';

/**
 * A world whose observations tell task, seed and every action since the reset, so that a crossed, lost or doubled
 * action shows. "finish" ends it with reward 1, "penny" is worth 0.25, "break" throws.
 */
export function echoFamily(name = 'echo', tasks = 1000): TextEnvironmentFamily & { alive: Set<object> } {
  const alive = new Set<object>();
  return {
    alive,
    name,
    tasks,
    instructions: 'Say anything; "finish" ends it.',
    group: () => 'all',
    create: () => {
      const environment = worldEnvironment(name, tasks, (task, seed) => {
        const heard: string[] = [];
        const text = (): string =>
          `task ${task} seed ${seed ?? 'none'} heard ${heard.join(', ') || 'nothing'}`;
        return {
          opening: text(),
          act: (action) => {
            if (action === 'break') throw new RangeError('the world broke');
            heard.push(action);
            const done = action === 'finish';
            return { text: text(), reward: done ? 1 : action === 'penny' ? 0.25 : 0, done };
          },
          availableActions: () => ['s a y', 'finish'],
        };
      });
      alive.add(environment);
      return {
        ...environment,
        close: async () => {
          alive.delete(environment);
          await environment.close();
        },
      };
    },
    expert: () => ['finish'],
  };
}
