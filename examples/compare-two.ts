import { createScorer } from 'q-ponder';

const [a = 'before.jpg', b = 'after.jpg'] = process.argv.slice(2);
const scorer = await createScorer({ mode: 'expected' });
const { better, difference, interval, probability } = await scorer.compare(a, b);
if (difference === null) {
  console.log('one of them has no score');
} else {
  const range = interval === undefined ? '' : ` (${interval.low.toFixed(2)} to ${interval.high.toFixed(2)})`;
  const sure = probability === null ? '' : `, P(a is better) = ${probability.toFixed(2)}`;
  console.log(`better: ${better}, a - b = ${difference.toFixed(2)}${range}${sure}`);
}
scorer.close();
