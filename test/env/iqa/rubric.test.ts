import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/core/index.ts';
import { createIqaRubric, type IqaTarget, iqaRubricConfigSchema } from '../../../src/env/index.ts';

const reasoning = 'strong jpeg compression. the quality is poor.';
const text = (score: string): string => `<think>${reasoning}</think><answer>${score}</answer>`;
const target: IqaTarget = {
  dataset: 'd',
  mos: 2,
  referenceDistortions: [{ type: 'jpeg', level: 2 }],
};
const blindWeight = { consistency: { blind: { weight: 0.5 } } };

describe('scoreCompletion', () => {
  it('adds the weighted terms: 1 * .75 + .3 * .5 + .2 * .75 + .1 * 1', () => {
    const { terms, total, answer } = createIqaRubric().scoreCompletion(text('3.00'), target);
    expect(terms).toEqual({
      accuracy: { status: 'ok', value: 0.75 },
      levelConsistency: { status: 'ok', value: 0.5 },
      distortionConsistency: { status: 'ok', value: 0.75 },
      format: { status: 'ok', value: 1 },
    });
    expect(total).toEqual({ status: 'ok', value: expect.closeTo(1.15, 12) });
    expect(answer).toMatchObject({ status: 'ok', score: 3, wellFormed: true });
  });

  it('leaves a term out where the image has no reference', () => {
    const { terms, total } = createIqaRubric().scoreCompletion(text('2.00'), { dataset: 'd', mos: 2 });
    expect(Object.keys(terms).sort()).toEqual(['accuracy', 'format', 'levelConsistency']);
    expect(total).toEqual({ status: 'ok', value: expect.closeTo(1.4, 12) });
  });

  it('uses blind re-scoring where it is offered: 1 + .3 + .5 * (1 - 1/4) + .1 without a reference', () => {
    const rubric = createIqaRubric(blindWeight, { expectedScore: () => 3 });
    const { terms, total } = rubric.scoreCompletion(text('2.00'), { dataset: 'd', mos: 2 });
    expect(terms.blindConsistency).toEqual({ status: 'ok', value: 0.75 });
    expect(total).toEqual({ status: 'ok', value: expect.closeTo(1.775, 12) });
  });

  it.each([
    ['unparsable', '<think>the quality is poor.</think><answer>two</answer>', 'unparsable'],
    ['out of range', text('0.50'), 'out-of-range'],
  ])('an answer that is %s earns nothing for its score and says why', (_name, output, status) => {
    const { terms, total, answer } = createIqaRubric().scoreCompletion(output, { dataset: 'd', mos: 2 });
    expect(answer.status).toBe(status);
    expect(terms).toEqual({
      accuracy: { status: 'ok', value: 0 },
      levelConsistency: { status: 'ok', value: 0 },
      format: { status: 'ok', value: 0 },
    });
    expect(total).toEqual({ status: 'ok', value: 0 });
  });

  it('a readable score without reasoning earns accuracy alone', () => {
    const { terms, total } = createIqaRubric().scoreCompletion('<answer>2.00</answer>', target);
    expect(terms.distortionConsistency).toEqual({ status: 'ok', value: 0 });
    expect(total).toEqual({ status: 'ok', value: 1 });
  });
});

describe('a term that fails', () => {
  it('is missing with its reason, and so is the total', () => {
    const rubric = createIqaRubric(blindWeight, {
      expectedScore: () => {
        throw new Error('model gone');
      },
    });
    const { terms, total } = rubric.scoreCompletion(text('2.00'), target);
    expect(terms.blindConsistency).toEqual({ status: 'missing', reason: 'blindConsistency: model gone' });
    expect(terms.accuracy).toEqual({ status: 'ok', value: 1 });
    expect(total).toEqual({ status: 'missing', reason: 'blindConsistency: model gone' });
  });

  it('is missing when it is not a number', () => {
    const rubric = createIqaRubric(blindWeight, { expectedScore: () => Number.NaN });
    expect(rubric.scoreCompletion(text('2.00'), target).terms.blindConsistency?.status).toBe('missing');
  });

  it('does not spoil the total when it has no weight', () => {
    const rubric = createIqaRubric({}, { expectedScore: () => Number.NaN });
    const { terms, total } = rubric.scoreCompletion(text('2.00'), target);
    expect(terms.blindConsistency?.status).toBe('missing');
    expect(total.status).toBe('ok');
  });

  it('covers raters’ spread that the target lacks', () => {
    const rubric = createIqaRubric({ accuracy: { reward: { form: 'gaussian', sigma: 'raters' } } });
    expect(rubric.scoreCompletion(text('2.00'), target).total.status).toBe('missing');
  });
});

describe('scoreGroups', () => {
  const rank = createIqaRubric({ accuracy: { reward: { form: 'rank' } } });
  const groups = [
    { target: { dataset: 'd', mos: 4 }, texts: [text('4.00'), text('3.00')] },
    { target: { dataset: 'd', mos: 2 }, texts: [text('2.00'), 'nothing'] },
    { target: { dataset: 'd', mos: 2 }, texts: [text('2.00'), text('3.00')] },
  ];

  it('ranks the images of a batch (the pair worked out in the rank tests)', () => {
    const [first, second] = rank.scoreGroups(groups);
    expect(first?.[0]?.terms.accuracy).toEqual({
      status: 'ok',
      value: expect.closeTo(0.9670195140849709, 10),
    });
    expect(second?.map(({ terms }) => terms.accuracy?.status)).toEqual(['missing', 'ok']);
    expect(second?.[1]?.terms.accuracy).toEqual({ status: 'ok', value: 0 });
  });

  it('equals scoreCompletion for forms that need no other image', () => {
    const rubric = createIqaRubric();
    expect(rubric.scoreGroups(groups)).toEqual(
      groups.map((group) => group.texts.map((each) => rubric.scoreCompletion(each, group.target))),
    );
  });

  it('is the only way to rank', () => {
    expect(() => rank.scoreCompletion(text('2.00'), target)).toThrow(ConfigError);
  });
});

describe('the configuration', () => {
  it('needs a way to re-score for a weight on blind', () => {
    expect(() => createIqaRubric(blindWeight)).toThrow(ConfigError);
  });

  it('knows its maximum', () => {
    expect(createIqaRubric().maximum).toBeCloseTo(1 + 0.3 + 0.2 + 0.1, 12);
  });

  it.each([
    ['an unknown term', { length: { weight: 1 } }],
    ['a negative weight', { format: { weight: -1 } }],
    ['an unknown form', { accuracy: { reward: { form: 'cosine' } } }],
    ['a setting of another form', { accuracy: { reward: { form: 'linear', epsilon: 1 } } }],
  ])('refuses %s', (_name, config) => {
    expect(iqaRubricConfigSchema.safeParse(config).success).toBe(false);
  });
});
