import { describe, expect, it } from 'vitest';
import { DEMO_FOLDER, DEMO_MODEL } from '../../../src/cli/stages/default-model.ts';
import { chosenStep, howToScore, keptColdStart, resultLines } from '../../../src/cli/stages/demo-summary.ts';
import { compare, type Prediction, summarize } from '../../../src/evaluate/index.ts';
import { prediction } from '../../evaluate/prediction-factory.ts';

const options = { resamples: 100 };
/** Twenty pictures, of which the first have no score. */
const rows = (missing: number): Prediction[] =>
  Array.from({ length: 20 }, (_, i) => prediction(`i${i}`, 1 + i / 5, i < missing ? null : 1 + i / 5));

const lines = (before: Prediction[], after: Prediction[]) =>
  resultLines(
    [
      { name: 'A', splits: [{ split: 's', predictions: before, summary: summarize(before, options) }] },
      { name: 'B', splits: [{ split: 's', predictions: after, summary: summarize(after, options) }] },
    ],
    [{ split: 's', baseline: 'A', candidate: 'B', result: compare(before, after, options) }],
  );

describe('the table at the end of the demo', () => {
  it('counts the images, and no more where all have a score', () => {
    const text = lines(rows(0), rows(0)).join('\n');
    expect(text).toContain('s (20 images)');
    expect(text).not.toMatch(/scored|warning/);
  });

  it('says how many have a score, and warns below 90 %', () => {
    const text = lines(rows(2), rows(3)).join('\n');
    expect(text).toContain('s (17 of 20 images have a score from both)');
    expect(text).toMatch(/^ {2}A .*, scored 18 of 20$/m);
    expect(text).toMatch(/^ {2}B .*, scored 17 of 20$/m);
    expect(text.match(/^warning: .*$/gm)).toEqual([
      'warning: B, s: only 17 of 20 answers have a score; the figures are about those alone',
    ]);
  });
});

describe('what the demo says about the weights it kept', () => {
  it('chosen on validation only where something was chosen', () => {
    expect(chosenStep({ step: 40, validation: 0.8125 }, 100)).toBe(
      'step 40 of 100, best on the validation split, (SRCC + PLCC) / 2 = 0.813',
    );
    expect(chosenStep({ step: 100 }, 100)).toBe(
      'step 100 of 100, the last step; no validation gave a correlation',
    );
  });

  it('step 0 of GRPO is the cold start, plainly', () => {
    expect(keptColdStart({ step: 0 })).toMatch(/did not improve .* Q-Ponder is the cold start/);
    expect(keptColdStart({ step: 1 })).toBeUndefined();
  });
});

describe('how to score with the model', () => {
  it('"score" finds it in the default folder alone', () => {
    expect(howToScore(DEMO_MODEL, `./${DEMO_FOLDER}/`)).toContain('(q-ponder score photo.jpg uses it)');
    expect(howToScore('else/q-ponder/model', 'else')).toBe(
      'model:  else/q-ponder/model\nto use it: q-ponder score photo.jpg --model else/q-ponder/model',
    );
  });

  it('quotes a path that a shell would split', () => {
    expect(howToScore("my runs/it's", 'my runs')).toMatch(/--model 'my runs\/it'\\''s'$/);
  });
});
