/** How many jobs run at once. Those beyond wait in order, up to a bound. */

/** Each may hold 1 MB of texts. */
const MAX_WAITING = 1_000;

export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get running(): number {
    return this.#count - this.#free;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs `work` when there is room; null, at once, when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#free > 0) this.#free -= 1;
    else if (this.#waiting.length >= MAX_WAITING) return null;
    // Who ends hands its slot over.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
