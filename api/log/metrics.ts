import type { Metrics } from '#platform/observability/metrics.ts';

/** Counts what is decided by this process alone: to be called for each. */
export function countDegraded(metrics: Metrics): () => void {
  const degraded = metrics.counter(
    'api_limits_degraded_total',
    'Requests to log that were decided by this process alone, as the store of counters was away',
  );
  return () => degraded.inc();
}
