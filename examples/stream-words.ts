import { createScorer } from 'q-ponder';

const scorer = await createScorer({ mode: 'expected' });
for await (const event of scorer.scoreStream(process.argv[2] ?? 'photo.jpg')) {
  if (event.type === 'text') process.stdout.write(event.text);
  else console.log(`\nscore: ${event.score.score?.toFixed(2) ?? event.score.status}`);
}
scorer.close();
