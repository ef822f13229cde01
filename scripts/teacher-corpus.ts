/**
 * Writes the text that the miniature's tokenizer is trained on: oracle answers, captions, template answers and
 * the student prompts, one per line.
 *
 *   npx tsx scripts/teacher-corpus.ts <file> [answers = 4000] [seed = 1]
 */
import { QUALITY_LEVELS, Rng, writeFileAtomic } from '../src/core/index.ts';
import {
  CONTENT_PHRASES,
  type DistortionType,
  loadShippedPrompt,
  SEVERITY_LEVELS,
  TRAINING_DISTORTIONS,
} from '../src/data/index.ts';
import { captionOf, oracleAnswer, oracleConfigSchema, templateAnswer } from '../src/teacher/index.ts';

const [file, count = '4000', seed = '1'] = process.argv.slice(2);
if (file === undefined || !(Number(count) >= 1)) {
  console.error('usage: npx tsx scripts/teacher-corpus.ts <file> [answers = 4000] [seed = 1]');
  process.exit(2);
}

// Sound answers only: the words that broken ones add must not cost the tokenizer anything.
const config = oracleConfigSchema.parse({ seed, brokenShare: 0 });
const kinds = Object.keys(CONTENT_PHRASES);
const rng = new Rng(seed).fork('corpus');
const lines: string[] = [];
for (let i = 0; i < Number(count); i++) {
  const types: DistortionType[] = rng.shuffle(TRAINING_DISTORTIONS).slice(0, rng.pick([0, 1, 1, 1, 2]));
  const record = {
    id: String(i),
    image: `${i}.png`,
    dataset: 'corpus',
    split: 'train',
    mos: rng.uniform(1, 5),
    contentKind: rng.pick(kinds),
    distortions: types.map((type) => ({ type, level: rng.pick(SEVERITY_LEVELS) })),
  };
  lines.push(oracleAnswer(record, config).text, captionOf(record));
  if (i % 10 === 0) lines.push(templateAnswer(record, seed));
}
for (const name of ['student/quality.v1', 'student/caption.v1']) {
  lines.push((await loadShippedPrompt(name)).template);
}
lines.push(QUALITY_LEVELS.join(' '));

const answers = lines.filter((line) => line.startsWith('<think>'));
const wordsOf = (text: string): string[] => text.match(/<\/?\w+>|[A-Za-z]+|\d|[^\s\w]/g) ?? [];
const lengths = answers.map((line) => wordsOf(line).length);
await writeFileAtomic(file, `${lines.join('\n')}\n`);
console.log(`${lines.length} lines, ${new Set(lines.flatMap(wordsOf)).size} distinct words -> ${file}`);
console.log(
  `answers: ${Math.min(...lengths)} to ${Math.max(...lengths)} words, mean ${(lengths.reduce((a, b) => a + b, 0) / lengths.length).toFixed(1)}`,
);
