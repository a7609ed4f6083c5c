/** The sinks, which follow the changes of records. They run in the process of ingest. */
import { CHANGES_CHANNEL } from '#core/contracts/channels.ts';
import type { Config } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import { connectPostgres, createListener, onAnnounced } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { type ChangeSignal, createFeedMetrics, startFeedKeeper } from './feed/mod.ts';
import type { StartPart } from './part.ts';
import { startRollups } from './rollups/mod.ts';
import { startWebhooks } from './webhooks/mod.ts';

export { checkRollups, rebuildRollups } from './rollups/mod.ts';

/** All sinks, a line each. */
const PARTS: readonly StartPart[] = [startRollups, startWebhooks];

/** Two for each part, one for the feed: a part's own loop does not wait for its sink. */
const POSTGRES_CONNECTIONS = 2 * PARTS.length + 1;
/** A batch takes milliseconds; a minute lets a large one through that meets a busy server. */
const STATEMENT_TIMEOUT_MS = 60_000;
/** Time for open transactions at a stop. Those that are cut off are rolled back, and run again later. */
const STOP_MS = 2_000;

export type StartSinksOptions = { config: Config; log: Logger; clock: Clock; metrics: Metrics };

export type RunningSinks = {
  /** Tells that this process has stored records: a word within the process, where others announce by Postgres. */
  wake(): void;
  stop(): Promise<void>;
};

/** Starts all sinks; `config.databaseUrl` must be set, and its schema checked. Never fails: without Postgres they wait. */
export function startSinks({ config, log, clock, metrics }: StartSinksOptions): RunningSinks {
  const sql = connectPostgres({
    url: config.databaseUrl!,
    max: POSTGRES_CONNECTIONS,
    applicationName: 'assay-sinks',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const feedMetrics = createFeedMetrics(metrics);
  const listener = createListener({ sql, log });
  const followers: (() => void)[] = [];
  const wake = () => {
    for (const follower of followers) follower();
  };
  const announced = onAnnounced(listener, CHANGES_CHANNEL, wake);
  const changes: ChangeSignal = {
    follow: (follower) => {
      followers.push(follower);
    },
    longestSleepMs: announced.longestSleepMs,
  };
  const context = { sql, listener, changes, config, log, clock, metrics, feedMetrics };
  const running = [announced, startFeedKeeper(context), ...PARTS.map((start) => start(context))];
  return {
    wake,
    async stop() {
      const stopped = Promise.allSettled(running.map((one) => one.stop()));
      if (!(await settlesWithin(stopped, STOP_MS)))
        log.warn('sinks are cut off: they go on at the next start');
      await sql.end({ timeout: 0 });
      // Loops that do not end even without connections end with the process.
      await settlesWithin(stopped, STOP_MS);
    },
  };
}
