import { Alarm } from './alarm.ts';
import type { WatchdogAction, WatchdogConfig, WatchdogName } from './config.ts';
import type { WatchdogEvent } from './event.ts';
import { gradientExplosionJudge } from './gradient-explosion.ts';
import type { Judge, StepMetrics } from './judge.ts';
import { lengthDriftJudge } from './length-drift.ts';
import { levelJudge } from './level.ts';
import { rewardHackingJudge } from './reward-hacking.ts';
import type { Memory, WatchdogState } from './state.ts';

interface Kind {
  judge: (config: WatchdogConfig) => Judge;
  /** What to try, as the end of the message. */
  remedy: string;
}

const KINDS: Readonly<Record<WatchdogName, Kind>> = {
  entropy: {
    judge: ({ entropy }) => levelJudge(entropy, 'at least', ' nats per token'),
    remedy:
      'try an entropy bonus, a higher upper clip (policyLoss.epsilonHigh 0.28) or a lower learning rate',
  },
  kl: {
    judge: ({ kl }) => levelJudge(kl, 'at most', ' nats per token'),
    remedy: 'try a larger KL coefficient or a lower learning rate',
  },
  format: {
    judge: ({ format }) => levelJudge(format, 'at least'),
    remedy:
      'try a longer cold start, a larger weight of the format reward, or a larger maxNewTokens if answers are cut',
  },
  repetition: {
    judge: ({ repetition }) => levelJudge(repetition, 'at most'),
    remedy: 'try a larger KL coefficient, a lower learning rate or a smaller maxNewTokens',
  },
  length: {
    judge: ({ length }) => lengthDriftJudge(length),
    remedy:
      'read samples.jsonl for padded or broken-off answers, and try a larger KL coefficient or aggregation "constant"',
  },
  identicalGroups: {
    judge: ({ identicalGroups }) => levelJudge(identicalGroups, 'at most'),
    remedy: 'try prompts of another difficulty, larger groups or a higher temperature',
  },
  rewardHacking: {
    judge: ({ rewardHacking }) => rewardHackingJudge(rewardHacking),
    remedy: 'read samples.jsonl for what that reward pays, lower its weight, or keep the best checkpoint',
  },
  gradientNorm: {
    judge: ({ gradientNorm }) => gradientExplosionJudge(gradientNorm),
    remedy: 'try a lower learning rate or optimizer.clipNorm',
  },
};

interface Watchdog {
  name: WatchdogName;
  metric: string;
  action: Exclude<WatchdogAction, 'off'>;
  kind: Kind;
  judge: Judge;
  alarm: Alarm;
  memory: Memory;
}

/** The watchdogs of a run: pure state over its metrics. What an event leads to is for the caller to do. */
export class Watchdogs {
  readonly #watchdogs: readonly Watchdog[];

  constructor(config: WatchdogConfig) {
    this.#watchdogs = (Object.keys(KINDS) as WatchdogName[]).flatMap((name) => {
      const { action, metric, patience } = config[name];
      if (action === 'off') return [];
      const kind = KINDS[name];
      return [
        {
          name,
          metric,
          action,
          kind,
          judge: kind.judge(config),
          alarm: new Alarm(patience),
          memory: { series: {}, reference: {} },
        },
      ];
    });
  }

  /**
   * Looks at metrics of a step, and may be called several times for one step with metrics of different names. A watchdog
   * whose metric has no value is left as it was: no value is neither good nor bad, and never 0.
   *
   * @param checkpoints steps of the checkpoints there are, for `roll-back`
   */
  observe(step: number, metrics: StepMetrics, checkpoints: readonly number[] = []): WatchdogEvent[] {
    return this.#watchdogs.flatMap(({ name, action, kind, judge, alarm, memory }) => {
      const judgement = judge(metrics, memory);
      if (judgement === null || !alarm.observe(judgement.bad, step)) return [];
      const { value, threshold, finding, metrics: shown } = judgement;
      const firstBadStep = alarm.firstBadStep ?? step;
      const event: WatchdogEvent = {
        step,
        watchdog: name,
        action,
        value,
        threshold,
        message: `${finding}, bad since step ${firstBadStep}: ${kind.remedy}`,
        metrics: shown,
        firstBadStep,
      };
      if (action === 'roll-back') event.rollBackTo = goodCheckpoint(checkpoints, firstBadStep);
      return [event];
    });
  }

  /** Watchdogs that have not had a value yet: their metric is not logged, or has another name. */
  unseen(): { watchdog: WatchdogName; metric: string }[] {
    return this.#watchdogs.flatMap(({ name, metric, memory }) =>
      memory.series[metric] === undefined && memory.reference[metric] === undefined
        ? [{ watchdog: name, metric }]
        : [],
    );
  }

  state(): WatchdogState {
    return Object.fromEntries(
      this.#watchdogs.map(({ name, alarm, memory }) => [
        name,
        structuredClone({ alarm: alarm.state(), memory }),
      ]),
    );
  }

  /**
   * Goes on from a state. A watchdog that the state does not know, for it was off, begins anew; one that has stopped the
   * run is not silent because of that: it stops it again at the next bad step.
   */
  restore(state: WatchdogState): void {
    for (const watchdog of this.#watchdogs) {
      const saved = state[watchdog.name];
      const alarm = saved?.alarm ?? { bad: 0, firstBadStep: null, barked: false };
      watchdog.alarm.restore(watchdog.action === 'stop' ? { ...alarm, barked: false } : alarm);
      watchdog.memory = structuredClone(saved?.memory ?? { series: {}, reference: {} });
    }
  }
}

/**
 * Metrics of step s are measured on the weights of checkpoint s - 1, so that one is bad as well: the newest older one
 * is wanted.
 */
function goodCheckpoint(checkpoints: readonly number[], firstBadStep: number): number | null {
  const good = checkpoints.filter((step) => step < firstBadStep - 1);
  return good.length === 0 ? null : Math.max(...good);
}
