import type { Metrics } from '#platform/observability/metrics.ts';

/** The metrics of the feed and its sinks, registered once a process. */
export type FeedMetrics = ReturnType<typeof createFeedMetrics>;

export function createFeedMetrics(metrics: Metrics) {
  const labels = ['sink'] as const;
  return {
    lagSeconds: metrics.gauge(
      'sink_lag_seconds',
      'Age of the oldest change that a sink has not applied.',
      labels,
    ),
    lagChanges: metrics.gauge(
      'sink_lag_changes',
      'Changes that a sink has not applied, counted up to 10,000.',
      labels,
    ),
    applied: metrics.counter(
      'sink_changes_total',
      'Changes that this process has applied for a sink.',
      labels,
    ),
    failures: metrics.counter(
      'sink_failures_total',
      'Batches of changes that a sink failed to apply.',
      labels,
    ),
    resumes: metrics.counter(
      'sink_resumes_total',
      'Times that a sink resumed by a scan, because the feed did not reach back to its cursor.',
      labels,
    ),
    dropped: metrics.counter('changes_dropped_total', 'Changes that this process has dropped from the feed.'),
  };
}
