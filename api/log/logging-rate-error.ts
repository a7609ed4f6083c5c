import { AssayError } from '#core/contracts/errors.ts';
import { LOG_WINDOW_S } from '#core/rate-limit/mod.ts';

/** An organization has logged as much as its rate allows. */
export class LoggingRateError extends AssayError {
  /** Whole seconds until one more will be logged; 1 at least. */
  readonly retryAfterS: number;

  constructor(logsPer5s: number, retryAfterMs: number) {
    super(
      'rate_limit_exceeded',
      `The request was not logged: the organization's logging rate of ${logsPer5s} in any ${LOG_WINDOW_S} seconds is used up; Retry-After says in how many seconds one more will be logged`,
    );
    this.retryAfterS = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  }
}
