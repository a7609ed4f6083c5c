/** Waiting times that double: from `firstMs`, over `longestMs` at most. */
export type BackoffOptions = {
  firstMs: number;
  longestMs: number;
  /** What each wait is multiplied by; default: 2. */
  factor?: number;
};

/** The wait after `failures` earlier ones, in milliseconds. */
export function backoffMs({ firstMs, longestMs, factor = 2 }: BackoffOptions, failures: number): number {
  return Math.min(firstMs * factor ** failures, longestMs);
}

/** Counts failures and tells how long to wait after each. */
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

  /** Begins anew with the first wait: something has succeeded. */
  reset(): void {
    this.#failures = 0;
  }
}
