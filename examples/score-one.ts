import { createScorer } from 'q-ponder';

const scorer = await createScorer({ mode: 'expected' });
const result = await scorer.score(process.argv[2] ?? 'photo.jpg');
if (result.score !== null) {
  const { low, high } = result.interval ?? { low: result.score, high: result.score };
  console.log(`${result.score.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}), ${result.level}`);
  for (const { type, level } of result.distortions) console.log(`  ${type} ${level ?? ''}`);
  console.log(result.reasoning);
} else {
  // Never a guess: without an answer there is no score.
  console.log(`no score: ${result.status}`);
}
scorer.close();
