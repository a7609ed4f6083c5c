import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { sweepExpired } from './rows.ts';

const SWEEP_EVERY_MS = 60_000;
/** Statements of one sweep: what is left waits for the next, so that a sweep is never what keeps Postgres busy. */
const MAX_STATEMENTS = 50;

/** Removes what has expired, every minute; gateways begin at random, so that they take turns. */
export function startSweeping(options: { sql: Sql; log: Logger; random(): number }): { stop(): void } {
  const { sql, log, random } = options;
  let timer = setTimeout(sweep, SWEEP_EVERY_MS * random());
  timer.unref();
  let isStopped = false;

  async function sweep(): Promise<void> {
    try {
      for (let statements = 1; (await sweepExpired(sql)) && statements < MAX_STATEMENTS && !isStopped; )
        statements += 1;
    } catch (error) {
      log.debug({ error: describeError(error) }, 'cannot remove expired answers now');
    }
    if (isStopped) return;
    timer = setTimeout(sweep, SWEEP_EVERY_MS);
    timer.unref();
  }

  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
