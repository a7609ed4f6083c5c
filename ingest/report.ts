import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import type { BatchResult, UnpricedCall } from './store-batch.ts';
import { createUnpricedReport } from './unpriced.ts';

/** Makes the callbacks that report ingest's work: counters, and log lines for the operator. */
export function createReport(metrics: Metrics, log: Logger) {
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
  const reportUnpriced = createUnpricedReport(log);
  return {
    onStored: (result: BatchResult): void => {
      stored.inc(result.stored);
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
    onUncounted: (error: unknown): void =>
      log.warn({ error: describeError(error) }, 'cannot count tokens: records are stored without them'),
  };
}
