import { createScorer, QPonderError } from 'q-ponder';

const LEAST = 3;
const scorer = await createScorer({
  mode: 'expected',
  // Strangers send the pictures: nothing large, and no URL is ever fetched (allowHttp is false by default).
  input: { maxBytes: 10_000_000, maxPixels: 40_000_000, timeoutMs: 5_000 },
});

/** What to answer to an upload, which is read as it comes. */
async function check(upload: ReadableStream<Uint8Array>): Promise<{ accepted: boolean; reason: string }> {
  try {
    const { score, status, distortions } = await scorer.score(upload, {
      signal: AbortSignal.timeout(10_000),
    });
    if (score === null) return { accepted: false, reason: status };
    const named = distortions.map(({ type }) => type).join(', ');
    return { accepted: score >= LEAST, reason: `${score.toFixed(2)} ${named}` };
  } catch (error) {
    // INPUT: their picture cannot be used. Everything else is for us to look at.
    if (error instanceof QPonderError && error.code === 'INPUT') {
      return { accepted: false, reason: error.message };
    }
    throw error;
  }
}

console.log(await check(new Blob([new Uint8Array(0)]).stream()));
scorer.close();
