/** One setting of a comparison: what it adds to the recipe that all variants share, as `--set` takes it. */
export interface Variant {
  name: string;
  settings: readonly string[];
}

export interface Experiment {
  /** What the comparison asks. */
  question: string;
  /** Of all variants. */
  settings: readonly string[];
  /** Rows of the table and colours of the picture. */
  variants: readonly Variant[];
  /** Each variant is run under each of these; one picture each. */
  conditions: readonly Variant[];
}

const CLIPS: readonly Variant[] = [
  { name: 'GRPO, clip 0.2', settings: ['policyLoss.kind=clip'] },
  { name: 'DAPO, clip 0.2 and 0.28', settings: ['policyLoss.kind=clip', 'policyLoss.epsilonHigh=0.28'] },
  { name: 'BAPO', settings: ['policyLoss.kind=bapo'] },
];

const replayed = (learningRate: string): Experiment => ({
  question: 'Does BAPO (arXiv 2510.18927) hold where one rollout batch is used many times?',
  settings: [
    'kl.coefficient.value=0',
    'optimizer.schedule=constant',
    `optimizer.learningRate=${learningRate}`,
    'miniBatches=8',
  ],
  variants: CLIPS,
  conditions: [
    { name: '8 updates per batch', settings: ['updatesPerBatch=8'] },
    { name: '32 updates per batch', settings: ['updatesPerBatch=32'] },
  ],
});

/** The comparisons of docs/log.md. */
export const EXPERIMENTS = {
  'stale-data': replayed('1e-4'),
  'stale-data-3e-4': replayed('3e-4'),
  curricula: {
    question: 'What does each curriculum bring against its absence?',
    settings: ['optimizer.schedule=constant', 'optimizer.learningRate=3e-4'],
    variants: [
      { name: 'none', settings: [] },
      { name: 'resampling', settings: ['resampling.kind=dynamic', 'resampling.maxRounds=3'] },
      {
        name: 'difficulty',
        settings: [
          'difficulty.kind=recent-success',
          'difficulty.success.kind=mean-reward',
          'difficulty.success.low=0.5',
          'difficulty.success.high=2.1',
        ],
      },
      { name: 'R3 staged', settings: ['curriculum.kind=staged'] },
      { name: 'R3 mixed', settings: ['curriculum.kind=mixed'] },
    ],
    conditions: [{ name: 'from the cold start', settings: [] }],
  },
} as const satisfies Record<string, Experiment>;
export type ExperimentName = keyof typeof EXPERIMENTS;
