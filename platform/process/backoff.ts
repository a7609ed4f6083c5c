/** Waits that grow by `factor`, from `firstMs` to at most `longestMs`: milliseconds. */
export type BackoffOptions = {
  firstMs: number;
  longestMs: number;
  /** Default: 2. */
  factor?: number;
};

/** Returns the wait after `failures` failures before the last one, in milliseconds. */
export function backoffMs({ firstMs, longestMs, factor = 2 }: BackoffOptions, failures: number): number {
  return Math.min(firstMs * factor ** failures, longestMs);
}

/** Counts failures, and returns how long to wait after each. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Returns the wait before the next try, and counts a failure. */
  next(): number {
    const waitMs = backoffMs(this.#options, this.#failures);
    this.#failures += 1;
    return waitMs;
  }

  /** Starts again with the first wait, after a success. */
  reset(): void {
    this.#failures = 0;
  }
}
