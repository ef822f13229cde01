import { formatAnswer, type Rng } from '../core/index.ts';
import {
  DISTORTION_WORDS,
  NEAREST_TRAINING_TYPE,
  SEVERITY_WORDS,
  TRAINING_DISTORTIONS,
} from '../data/index.ts';
import type { TeachingRecord } from './teacher.ts';
import { joinReasoning, type ReasoningParts } from './writing.ts';

/** The ways in which the oracle breaks an answer on purpose. Each must be caught by a filter. */
export const ORACLE_DEFECTS = [
  'wrong-distortion',
  'score-far-off',
  'missing-tag',
  'leaked-score',
  'repeated-text',
  'truncated',
] as const;
export type OracleDefect = (typeof ORACLE_DEFECTS)[number];

/** Names, with its effect, a distortion that neither is there nor resembles one that is. */
function withWrongDistortion(parts: ReasoningParts, record: TeachingRecord, rng: Rng): ReasoningParts {
  const present = (record.distortions ?? []).flatMap(({ type }) => [type, NEAREST_TRAINING_TYPE[type]]);
  const type = rng.pick(TRAINING_DISTORTIONS.filter((candidate) => !present.includes(candidate)));
  const words = DISTORTION_WORDS[type];
  return {
    ...parts,
    distortions: `${SEVERITY_WORDS[rng.pick([3, 4, 5] as const)]} ${rng.pick(words.phrases)}`,
    effect: rng.pick(words.effects),
  };
}

/** A score 1.5 to 2 away from the MOS, on the side where the scale has room. */
const farOff = (mos: number, rng: Rng): number => mos + (mos >= 3 ? -1 : 1) * rng.uniform(1.5, 2);

/** The text of an answer with the given defect. `score` is the sound one. */
export function breakAnswer(
  defect: OracleDefect,
  parts: ReasoningParts,
  score: number,
  record: TeachingRecord,
  rng: Rng,
): string {
  const reasoning = joinReasoning(parts);
  switch (defect) {
    case 'wrong-distortion':
      return formatAnswer(joinReasoning(withWrongDistortion(parts, record, rng)), score);
    case 'score-far-off':
      return formatAnswer(reasoning, farOff(record.mos, rng));
    case 'missing-tag':
      return formatAnswer(reasoning, score).replace(
        rng.pick(['<think>', '</think>', '<answer>', '</answer>']),
        '',
      );
    case 'leaked-score':
      return formatAnswer(`${reasoning} the given score is ${record.mos.toFixed(2)}.`, score);
    case 'repeated-text': {
      const effect = Array.from({ length: 4 }, () => parts.effect).join('. ');
      return formatAnswer(joinReasoning({ ...parts, effect }), score);
    }
    case 'truncated': {
      const words = formatAnswer(reasoning, score).split(' ');
      return words.slice(0, Math.floor(words.length * rng.uniform(0.3, 0.8))).join(' ');
    }
  }
}
