import type { Config } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import type { Listener, Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { ChangeSignal, FeedMetrics, RunningSink } from './feed/mod.ts';

/** Dependencies of a part of the sinks. */
export type SinksContext = {
  /** Connections of the owner of the tables, shared by all parts. */
  sql: Sql;
  listener: Listener;
  changes: ChangeSignal;
  config: Config;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  feedMetrics: FeedMetrics;
};

/**
 * Starts a sink with the loops beside it. It must not throw: steps that may fail belong in its loops. After `stop` was called,
 * an error of Postgres ends its loops silently, because the connections may be cut.
 */
export type StartPart = (context: SinksContext) => RunningSink;
