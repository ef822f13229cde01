/** Scores one completion by the reward file it is given, and passes on what that prints. */
import { createRewardTerms } from '../../../src/env/index.ts';

const terms = await createRewardTerms(
  [
    {
      kind: 'file',
      name: 'own',
      weight: 1,
      range: [0, 1],
      path: process.argv[2] as string,
      deadlineSeconds: 3600,
    },
  ],
  { note: (line) => process.send?.(line) },
);
await terms.score(0, [
  { id: 'a', image: 'a.png', prompt: '', target: { dataset: 'd', mos: 3 }, texts: ['a'] },
]);
