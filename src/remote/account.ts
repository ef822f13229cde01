import type { RemoteReason } from '../core/index.ts';
import type { ChatBudget, ChatUsage, ReplyTokens, TokenPrices } from './chat-types.ts';

/** Reply ids remembered, to notice repeated ones. */
const REMEMBERED_IDS = 4096;

export interface Estimate {
  prompt: number;
  completion: number;
}

type Spent = { cost: number; tokens: number; requests: number };

/** Counts what was asked, answered and spent, and knows what the budget still allows. */
export class Account {
  readonly counts = { asked: 0, answered: 0, failed: 0, requests: 0, retries: 0, repliesWithoutUsage: 0 };
  readonly failures: Partial<Record<RemoteReason, number>> = {};
  private readonly tokens: ReplyTokens = { prompt: 0, cachedPrompt: 0, completion: 0 };
  private readonly reserved: Spent = { cost: 0, tokens: 0, requests: 0 };
  private readonly prices: TokenPrices | undefined;
  private readonly budget: ChatBudget;
  private readonly ids = new Set<string>();
  private repeatedIds = 0;
  private closed: string | undefined;

  constructor(prices: TokenPrices | undefined, budget: ChatBudget = {}) {
    this.prices = prices;
    this.budget = budget;
  }

  private costOf({ prompt, cachedPrompt, completion }: ReplyTokens): number {
    const { prices } = this;
    if (prices === undefined) return 0;
    const cached = prices.cachedPrompt ?? prices.prompt;
    return (
      ((prompt - cachedPrompt) * prices.prompt + cachedPrompt * cached + completion * prices.completion) / 1e6
    );
  }

  private amounts({ prompt, completion }: Estimate): Spent {
    const cost = this.costOf({ prompt, cachedPrompt: 0, completion });
    return { cost, tokens: prompt + completion, requests: 1 };
  }

  private spent(): Spent {
    const { prompt, completion } = this.tokens;
    return { cost: this.costOf(this.tokens), tokens: prompt + completion, requests: this.counts.requests };
  }

  /**
   * Whether a request of this size may be sent. 'wait': it depends on what the requests in flight turn out to
   * cost. Once one is refused, all later ones are: a budget ends at one place, not in a trickle.
   */
  admits(estimate: Estimate): 'yes' | 'wait' | { refused: string } {
    if (this.closed !== undefined) return { refused: this.closed };
    const spent = this.spent();
    const wanted = this.amounts(estimate);
    let wait = false;
    for (const kind of ['requests', 'tokens', 'cost'] as const) {
      const limit = this.budget[kind];
      if (limit === undefined) continue;
      if (spent[kind] + wanted[kind] > limit) {
        const figure = (value: number): string =>
          kind === 'cost' ? value.toPrecision(4) : String(Math.round(value));
        this.closed = `the budget of ${limit} ${kind} is spent: ${figure(spent[kind])} used, the next request may need ${figure(wanted[kind])}`;
        return { refused: this.closed };
      }
      // A sent request is in `spent` already; cost and tokens are known only when it is back.
      if (kind !== 'requests' && spent[kind] + this.reserved[kind] + wanted[kind] > limit) wait = true;
    }
    return wait ? 'wait' : 'yes';
  }

  /** A request is sent. The function that comes back is called once, when it has ended. */
  begin(estimate: Estimate): (actual: ReplyTokens | undefined) => void {
    const amounts = this.amounts(estimate);
    this.counts.requests++;
    this.reserved.cost += amounts.cost;
    this.reserved.tokens += amounts.tokens;
    return (actual) => {
      this.reserved.cost -= amounts.cost;
      this.reserved.tokens -= amounts.tokens;
      if (actual === undefined) return;
      this.tokens.prompt += actual.prompt;
      this.tokens.cachedPrompt += actual.cachedPrompt;
      this.tokens.completion += actual.completion;
    };
  }

  sawReply(id: string | undefined, tokens: ReplyTokens | undefined): void {
    if (tokens === undefined) this.counts.repliesWithoutUsage++;
    if (id === undefined || id === '') return;
    if (this.ids.has(id)) this.repeatedIds++;
    this.ids.add(id);
    if (this.ids.size > REMEMBERED_IDS) this.ids.delete(this.ids.values().next().value as string);
  }

  sawFailure(reason: RemoteReason): void {
    this.failures[reason] = (this.failures[reason] ?? 0) + 1;
  }

  usage(concurrency: number): ChatUsage {
    return {
      ...this.counts,
      failures: { ...this.failures },
      promptTokens: this.tokens.prompt,
      cachedPromptTokens: this.tokens.cachedPrompt,
      completionTokens: this.tokens.completion,
      cost: this.prices === undefined ? null : this.costOf(this.tokens),
      repeatedIds: this.repeatedIds,
      concurrency,
    };
  }
}
