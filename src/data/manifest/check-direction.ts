import { InputError } from '../../core/index.ts';
import type { Label, Scale } from './labels.ts';

/** Pairs from which on a majority means something. */
const LEAST_PAIRS = 20;

/**
 * Where the distortion level is known, quality must fall as it rises, over most pairs of one original and one
 * distortion. Otherwise direction or levels are the wrong way round, and training on them would teach the opposite.
 */
export function checkDirection(labels: readonly Label[], { direction }: Scale, manifest: string): void {
  const series = new Map<string, Label[]>();
  for (const label of labels) {
    if (label.level === null || label.value === null || label.reference === null) continue;
    const key = `${label.reference.toLowerCase()}\n${label.distortion}`;
    const same = series.get(key);
    if (same === undefined) series.set(key, [label]);
    else same.push(label);
  }
  let worse = 0;
  let better = 0;
  for (const images of series.values()) {
    for (const [i, a] of images.entries()) {
      for (const b of images.slice(i + 1)) {
        const rise = (b.value! - a.value!) * (b.level! - a.level!) * (direction === 'higher' ? 1 : -1);
        if (rise < 0) worse++;
        else if (rise > 0) better++;
      }
    }
  }
  if (worse + better < LEAST_PAIRS || worse >= better) return;
  throw new InputError(
    `${manifest}: by these labels a stronger distortion looks better in ${better} of ${worse + better} pairs, so "${direction} is better" is the wrong direction`,
    {
      hint: `the labels were inverted, or are of another form: check with --set direction=${direction === 'higher' ? 'lower' : 'higher'}`,
    },
  );
}
