/** At most so many pieces of work at the same time; the others wait in order. One that aborts leaves the line. */
export class Lanes {
  readonly #count: number;
  readonly #line: (() => void)[] = [];
  #busy = 0;

  constructor(count: number) {
    this.#count = count;
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#busy < this.#count) this.#busy++;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#busy--;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const come = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(come), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#line.push(come);
    });
  }
}
