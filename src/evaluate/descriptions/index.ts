/**
 * How good are descriptions of image quality, ours or anybody's? Two protocols.
 *
 * Without a judge (`measureDescriptions`), where the distortions are known or a score stands beside the text:
 * precision, recall and F1 of the distortions named, micro and by type, with and without their severities;
 * claims about pristine pictures; distortions denied; levels that contradict the score; rank agreement of the
 * text's level and severities with score and MOS. Words are read by a vocabulary, so figures compare only within
 * one vocabulary, and recall of free texts is a lower bound.
 *
 * With a judge (`judgeDescriptions`), any model behind an OpenAI-compatible address: accuracy, completeness and
 * reasonableness from 0 to a highest grade, several samples each; or two sets compared, every picture in both
 * orders, where only what both orders say counts. The prompt is a versioned file whose hash is part of the
 * judging. A reply without grades is counted and never becomes a grade. A judge of the same model or family as
 * the author is flagged. Two judges are compared by quadratic weighted kappa. Replies are kept as they come, and
 * a judging that was stopped at any moment continues with the questions that have no reply.
 */
export * from './description.ts';
export { DISTORTION_FAMILY, type DistortionFamily } from './free-vocabulary.ts';
export * from './judge/index.ts';
export * from './load.ts';
export * from './measure.ts';
export type { NamingByTruth, SeveritySummary, TypeRow } from './naming-counts.ts';
export { type Reading as DescriptionReading, readDescription, type Vocabulary } from './reading.ts';
export { descriptionTable, type NamedSummary } from './table.ts';
