import type { Score } from '../../src/scoring/index.ts';

/** A score without its timings, which no two runs share. */
export const steady = ({ timings: _, ...rest }: Score): Omit<Score, 'timings'> => rest;
