import { type Clock, systemClock } from './clock.ts';

/**
 * Shares out work of many owners that is done one piece after the other: by the time that it takes, not by the number of pieces.
 * An owner rests after a piece for as long as it took, and meanwhile others come first.
 */
export class Rests {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By owner. */
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
  }

  /** Returns the owners that rest now. */
  owners(): string[] {
    const now = this.#clock.monotonic();
    for (const [owner, until] of this.#until) if (until <= now) this.#until.delete(owner);
    return [...this.#until.keys()];
  }

  /** Does a piece of work of an owner, who then rests. */
  async after<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const beganAt = this.#clock.monotonic();
    try {
      return await work();
    } finally {
      const endedAt = this.#clock.monotonic();
      this.#until.set(owner, endedAt + (endedAt - beganAt));
    }
  }
}
