import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { createScorer } from 'q-ponder';

const folder = process.argv[2] ?? '.';
const paths: string[] = [];

/** Names are read as they are needed: the folder may be of any size. */
async function* pictures(): AsyncGenerator<string> {
  for await (const entry of await opendir(folder)) {
    if (!/\.(jpe?g|png|webp)$/i.test(entry.name)) continue;
    const path = join(folder, entry.name);
    paths.push(path);
    yield path;
  }
}

const stop = new AbortController();
process.once('SIGINT', () => stop.abort(new Error('stopped')));

const scorer = await createScorer({ mode: 'expected' });
for await (const { index, score, error } of scorer.scoreBatch(pictures(), { signal: stop.signal })) {
  if (error !== null) console.log(`${paths[index]}: ${error.code}: ${error.message}`);
  else console.log(`${paths[index]}: ${score.score?.toFixed(2) ?? score.status}`);
}
scorer.close();
