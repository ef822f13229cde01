import { Rng } from '../../src/core/index.ts';
import { SCENE_KINDS, SEVERITY_LEVELS, TRAINING_DISTORTIONS } from '../../src/data/index.ts';
import type { TeachingRecord } from '../../src/teacher/index.ts';

export const record = (over: Partial<TeachingRecord> = {}): TeachingRecord => ({
  id: 'r1',
  image: 'images/r1.png',
  dataset: 'synthetic',
  split: 'train',
  mos: 2.5,
  contentKind: 'pebbles',
  distortions: [{ type: 'jpeg', level: 4 }],
  ...over,
});

/** Records with 0 to 2 distortions and a MOS drawn over the whole scale. */
export function manyRecords(count: number, seed = 1): TeachingRecord[] {
  const rng = new Rng(seed);
  return Array.from({ length: count }, (_, i) =>
    record({
      id: `r${i}`,
      mos: rng.uniform(1, 5),
      contentKind: rng.pick(SCENE_KINDS),
      distortions: rng
        .shuffle(TRAINING_DISTORTIONS)
        .slice(0, rng.integer(3))
        .map((type) => ({ type, level: rng.pick(SEVERITY_LEVELS) })),
    }),
  );
}
