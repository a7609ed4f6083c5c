import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';

/**
 * Asks Postgres for something that a call can do without. Resolves with undefined, and never rejects, when it does not
 * answer in time, fails, or has just done so.
 */
export type Breaker = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** After a failure, how long nobody asks: an outage must not cost every call its patience. */
const AWAY_MS = 1_000;
/** At a time; what comes on top would only wait behind the pool. */
const MAX_AT_ONCE = 200;

export type BreakerOptions = {
  clock: Clock;
  log: Logger;
  /** How long an answer is waited for. */
  patienceMs: number;
};

/** Makes the one breaker that all look-ups of a cache go through. */
export function createBreaker({ clock, log, patienceMs }: BreakerOptions): Breaker {
  let awayUntil = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let underWay = 0;

  function fail(error: unknown): void {
    const now = clock.monotonic();
    // Of many that fail at a time, one is worth a line.
    if (now >= awayUntil) {
      log.warn({ error: describeError(error) }, 'the cache cannot ask Postgres; calls go to their providers');
    }
    awayUntil = now + AWAY_MS;
  }

  return async (work) => {
    const askedAt = clock.monotonic();
    if (underWay >= MAX_AT_ONCE || askedAt < awayUntil) return undefined;
    underWay += 1;
    const patience = startPatience(patienceMs);
    try {
      const answer = await Promise.race([work(), patience.isOver]);
      if (answer !== OVER) {
        answeredAt = clock.monotonic();
        return answer;
      }
      // When others have had their answers in the meantime, it is this one that is slow, and not Postgres.
      if (answeredAt < askedAt) fail(new Error(`no answer within ${patienceMs} ms`));
    } catch (error) {
      fail(error);
    } finally {
      underWay -= 1;
      patience.end();
    }
    return undefined;
  };
}

const OVER = Symbol('patience is over');

function startPatience(patienceMs: number): { isOver: Promise<typeof OVER>; end(): void } {
  const { promise, resolve } = Promise.withResolvers<typeof OVER>();
  // A turn later: an answer that is here already, and that a busy process has not come to read, is not late.
  const timer = setTimeout(() => setImmediate(resolve, OVER), patienceMs);
  return { isOver: promise, end: () => clearTimeout(timer) };
}
