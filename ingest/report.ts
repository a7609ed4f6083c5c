import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { countDeadLetters } from './dead-letters.ts';
import type { BatchResult, UnpricedCall } from './store-batch.ts';
import { createUnpricedReport } from './unpriced.ts';

export type ReportOptions = { sql: Sql; metrics: Metrics; log: Logger; clock: Pick<Clock, 'now'> };

/** Makes the callbacks that report ingest's work: counters, log lines for the operator, and the state of the process. */
export function createReport({ sql, metrics, log, clock }: ReportOptions) {
  let lastStoredMs: number | null = null;
  const kept = metrics.gauge(
    'dead_letters',
    'Dead letters of all organizations, counted every ten seconds and up to 10,000',
  );
  metrics.readOnDemand(
    'ingest_last_stored_timestamp_seconds',
    'Time at which this process last stored something, in seconds since the epoch; 0: not since its start',
    () => (lastStoredMs ?? 0) / 1_000,
  );
  const stored = metrics.counter('ingest_stored_total', 'Log entries stored as records');
  const deadLetters = metrics.counter('ingest_dead_letters_total', 'Log entries kept as dead letters');
  const expired = metrics.counter(
    'ingest_expired_total',
    'Log entries that were not stored, because they are older than the retention',
  );
  const erased = metrics.counter(
    'ingest_erased_total',
    'Log entries that were not stored, because their requests were erased before they came',
  );
  const estimated = metrics.counter(
    'ingest_estimated_total',
    'Records whose tokens ingest counted, because their provider did not',
  );
  const unpriced = metrics.counter(
    'ingest_unpriced_total',
    'Records with tokens and without a cost, because their model has no known price',
  );
  const lateFilters = metrics.counter(
    'ingest_late_filters_total',
    'Filters of online evaluators that were not applied to a batch, because those of their organization used up its time',
  );
  const reportUnpriced = createUnpricedReport(log);
  return {
    /** Counts dead letters, and returns when something was stored last: RFC 3339, null: not since the start. */
    readLastStored: async (): Promise<string | null> => {
      kept.set(await countDeadLetters(sql));
      return lastStoredMs === null ? null : new Date(lastStoredMs).toISOString();
    },
    onStored: (result: BatchResult): void => {
      stored.inc(result.stored);
      lastStoredMs = clock.now();
      expired.inc(result.expired);
      erased.inc(result.erased);
      if (result.deadLetters === 0) return;
      deadLetters.inc(result.deadLetters);
      log.error(result, 'log entries became dead letters');
    },
    onEstimated: (count: number): void => estimated.inc(count),
    onUnpriced: (calls: UnpricedCall[]): void => {
      unpriced.inc(calls.length);
      reportUnpriced(calls);
    },
    onLateFilters: (count: number): void => lateFilters.inc(count),
    onUncounted: (error: unknown): void =>
      log.warn({ error: describeError(error) }, 'cannot count tokens: records are stored without them'),
  };
}
