import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds; the miniature needs hundredths of one, a large model many. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export interface Gauges {
  /** Pictures admitted and not answered yet. */
  admitted(): number;
  /** Pictures that no batch has taken yet. */
  waiting(): number;
  ready(): boolean;
}

/** What /metrics tells, in a registry of the server's own. Labels hold routes and codes, never content. */
export class ServerMetrics {
  readonly registry: Registry = new Registry();
  readonly requests: Counter<'route' | 'method' | 'status'>;
  readonly requestSeconds: Histogram<'route'>;
  readonly errors: Counter<'code'>;
  readonly pictures: Counter<'status'>;
  readonly batchSize: Histogram;
  readonly batchSeconds: Histogram;
  readonly restarts: Counter<'thread'>;
  readonly reloads: Counter<'outcome'>;

  constructor() {
    const registers = [this.registry];
    const { requests, requestSeconds, errors, pictures, batchSize, batchSeconds, restarts, reloads } = {
      requests: new Counter({
        name: 'q_ponder_http_requests_total',
        help: 'Requests answered',
        labelNames: ['route', 'method', 'status'] as const,
        registers,
      }),
      requestSeconds: new Histogram({
        name: 'q_ponder_http_request_seconds',
        help: 'Time from a request’s head to the end of its answer',
        labelNames: ['route'] as const,
        buckets: SECONDS,
        registers,
      }),
      errors: new Counter({
        name: 'q_ponder_errors_total',
        help: 'Errors that clients were told, by code',
        labelNames: ['code'] as const,
        registers,
      }),
      pictures: new Counter({
        name: 'q_ponder_pictures_total',
        help: 'Pictures answered, by the status of the result',
        labelNames: ['status'] as const,
        registers,
      }),
      batchSize: new Histogram({
        name: 'q_ponder_batch_size',
        help: 'Pictures or conversations of one pass',
        buckets: [1, 2, 4, 8, 16, 32, 64, 128],
        registers,
      }),
      batchSeconds: new Histogram({
        name: 'q_ponder_batch_seconds',
        help: 'Time of one pass',
        buckets: SECONDS,
        registers,
      }),
      restarts: new Counter({
        name: 'q_ponder_worker_restarts_total',
        help: 'Threads that ended unasked and were started again',
        labelNames: ['thread'] as const,
        registers,
      }),
      reloads: new Counter({
        name: 'q_ponder_model_reloads_total',
        help: 'Reloads of the model',
        labelNames: ['outcome'] as const,
        registers,
      }),
    };
    this.requests = requests;
    this.requestSeconds = requestSeconds;
    this.errors = errors;
    this.pictures = pictures;
    this.batchSize = batchSize;
    this.batchSeconds = batchSeconds;
    this.restarts = restarts;
    this.reloads = reloads;
    collectDefaultMetrics({ register: this.registry });
  }

  watch({ admitted, waiting, ready }: Gauges): void {
    const gauge = (name: string, help: string, value: () => number): void => {
      new Gauge({
        name,
        help,
        registers: [this.registry],
        collect() {
          this.set(value());
        },
      });
    };
    gauge('q_ponder_pictures_admitted', 'Pictures admitted and not answered yet', admitted);
    gauge('q_ponder_pictures_waiting', 'Pictures that no pass has taken yet', waiting);
    gauge('q_ponder_ready', '1 while a model is loaded and requests are taken', () => (ready() ? 1 : 0));
  }
}
