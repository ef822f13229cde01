import type { PredictionPair } from './compare-results.ts';

/** One image whose score changed. */
export interface ImageChange {
  id: string;
  image: string;
  mos: number;
  baseline: number;
  candidate: number;
  /** Candidate minus baseline. */
  change: number;
  /** Change of the distance to the MOS: below 0 where the candidate is closer. */
  errorChange: number;
}

export interface ScoreChanges {
  /** Images with a score on both sides. */
  images: number;
  unchanged: number;
  closer: number;
  farther: number;
  /** Largest changes of score first. */
  mostChanged: ImageChange[];
  /** Images that have a score on one side only. */
  lost: string[];
  gained: string[];
}

/** What happened to the score of each image. */
export function scoreChanges(pairs: readonly PredictionPair[], most: number): ScoreChanges {
  const lost: string[] = [];
  const gained: string[] = [];
  const changes: ImageChange[] = [];
  for (const { baseline, candidate } of pairs) {
    const { id, image, mos } = candidate;
    const [before, after] = [baseline.score, candidate.score];
    if (before !== null && after !== null) {
      const errorChange = Math.abs(after - mos) - Math.abs(before - mos);
      changes.push({
        id,
        image,
        mos,
        baseline: before,
        candidate: after,
        change: after - before,
        errorChange,
      });
    } else if (before !== null) lost.push(id);
    else if (after !== null) gained.push(id);
  }
  return {
    images: changes.length,
    unchanged: changes.filter(({ change }) => change === 0).length,
    closer: changes.filter(({ errorChange }) => errorChange < 0).length,
    farther: changes.filter(({ errorChange }) => errorChange > 0).length,
    mostChanged: changes
      .filter(({ change }) => change !== 0)
      .sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.id.localeCompare(b.id, 'en'))
      .slice(0, most),
    lost,
    gained,
  };
}
