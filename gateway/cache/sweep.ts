import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { sweepExpired } from './rows.ts';

const SWEEP_EVERY_MS = 60_000;
/** Statements of one sweep. The rest waits for the next sweep, so that sweeping never keeps Postgres busy. */
const MAX_STATEMENTS = 50;

/** Removes expired responses every minute. Each gateway begins at a random moment, so that they take turns. */
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
      log.debug({ error: describeError(error) }, 'Cannot remove expired cached responses now');
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
