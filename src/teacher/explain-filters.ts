import type { FilterReason } from './filter-config.ts';

/** What each rule is for, one sentence, for reports. */
export const FILTER_MEANINGS: Readonly<Record<FilterReason, string>> = {
  format: 'The output is not exactly one think block and one answer with two decimals.',
  'score-distance': 'The score is farther from the MOS than allowed.',
  'level-not-stated': 'The reasoning states no quality level, or several.',
  'level-disagrees': 'The level stated does not fit the score.',
  'leaked-score': 'The reasoning shows that the score was given.',
  'leaked-instruction': 'The reasoning speaks of the instruction or of what it was told in advance.',
  repetition: 'The reasoning repeats itself.',
  truncated: 'The text was cut short.',
  'too-short': 'The reasoning has too few words to be a reason.',
  'too-long': 'The reasoning has too many words.',
  language: 'The reasoning is not in the language of the prompt.',
  refusal: 'The model or a content filter declined to judge.',
  'distortion-not-present': 'It names a distortion that was not applied.',
  'distortion-missed': 'It does not name the strongest distortion that was applied.',
  'severity-off': 'It calls a distortion much stronger or weaker than it is.',
  'near-duplicate': 'Its text nearly repeats one that is kept already.',
};
