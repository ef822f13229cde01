/** The training curves a report shows, and which logged series belong to each. */

export type PanelId = 'loss' | 'validation' | 'reward' | 'kl' | 'entropy' | 'length';

export interface Panel {
  title: string;
  /** What the vertical axis shows. */
  axis: string;
  matches: (name: string) => boolean;
}

const word = (pattern: string): RegExp => new RegExp(`(^|[^a-z])(${pattern})([^a-z]|$)`, 'i');
// camelCase and snake_case alike: "klToReference" and "kl_to_reference" both hold the word kl.
const words = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2');
const has = (pattern: string) => {
  const expression = word(pattern);
  return (name: string) => expression.test(words(name));
};

const isSpread = has('std|missing|variance|share|fraction|frac|rate|weight|min|max');
/** Counts of a reward term's failures; coefficients and decompositions have other units than what they are named after. */
const isCount = has('timeouts|errors|retries|invalid|skipped|out_of_range|seconds');
const isOther = has('coefficient|clip');
const isReward = has('rewards?');
const isLength = has('length|lengths');

/** Checked in this order: a series belongs to the first panel that matches. */
export const PANELS: Readonly<Record<PanelId, Panel>> = {
  validation: { title: 'Validation correlation', axis: 'SRCC, PLCC', matches: has('srcc|plcc') },
  reward: {
    title: 'Reward and its terms',
    axis: 'mean reward',
    matches: (name) => isReward(name) && !isSpread(name) && !isCount(name),
  },
  kl: {
    title: 'KL to the reference',
    axis: 'nats per token',
    matches: (name) => has('kl')(name) && !isOther(name),
  },
  entropy: {
    title: 'Entropy',
    axis: 'nats per token',
    matches: (name) => has('entropy')(name) && !isOther(name),
  },
  length: {
    title: 'Completion length',
    axis: 'tokens',
    matches: (name) => isLength(name) && !has('rate|ratio|std')(name),
  },
  loss: { title: 'Loss', axis: 'loss', matches: has('loss') },
};

export const PANEL_IDS = Object.keys(PANELS) as PanelId[];

export const COLD_START_PANELS: readonly PanelId[] = ['loss', 'validation'];
export const GRPO_PANELS: readonly PanelId[] = ['reward', 'validation', 'kl', 'entropy', 'length', 'loss'];

export const panelOf = (name: string): PanelId | undefined =>
  PANEL_IDS.find((id) => PANELS[id].matches(name));
