import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EnvironmentErrorCode } from './environment-error.ts';

/** Seconds; a step of a native world takes well under a millisecond. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** What /metrics tells, in a registry of the server's own. */
export class EnvironmentMetrics {
  readonly registry: Registry = new Registry();
  readonly #requests: Counter<'route' | 'status'>;
  readonly #seconds: Histogram<'route'>;
  readonly #errors: Counter<'code'>;
  readonly #episodes: Counter<'event'>;

  /** @param open instances that are open */
  constructor(open: () => number) {
    const registers = [this.registry];
    this.#requests = new Counter({
      name: 'q_ponder_environment_requests_total',
      help: 'Requests answered',
      labelNames: ['route', 'status'] as const,
      registers,
    });
    this.#seconds = new Histogram({
      name: 'q_ponder_environment_request_seconds',
      help: 'Time from a request to its answer',
      labelNames: ['route'] as const,
      buckets: SECONDS,
      registers,
    });
    this.#errors = new Counter({
      name: 'q_ponder_environment_errors_total',
      help: 'Errors that clients were told, by code',
      labelNames: ['code'] as const,
      registers,
    });
    this.#episodes = new Counter({
      name: 'q_ponder_environment_instances_total',
      help: 'Instances made, closed by their clients and closed as idle; episodes begun and finished',
      labelNames: ['event'] as const,
      registers,
    });
    new Gauge({
      name: 'q_ponder_environment_instances',
      help: 'Instances that are open',
      registers,
      collect() {
        this.set(open());
      },
    });
  }

  request(route: string, status: number, seconds: number): void {
    this.#requests.inc({ route, status: String(status) });
    this.#seconds.observe({ route }, seconds);
  }

  error(code: EnvironmentErrorCode): void {
    this.#errors.inc({ code });
  }

  count(event: 'created' | 'closed' | 'expired' | 'begun' | 'finished', times = 1): void {
    this.#episodes.inc({ event }, times);
  }
}
