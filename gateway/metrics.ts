import type { Metrics } from '#core/metrics.ts';
import type { Recorder } from './chat/record.ts';

/**
 * Registers the gateway's metrics; the function returned wraps the recorder, through which every call passes once, at
 * its end.
 */
export function gatewayMetrics(metrics: Metrics): (recorder: Recorder) => Recorder {
  const calls = metrics.counter('gateway_calls_total', 'Calls that ended, by provider and status', [
    'provider',
    'status',
  ]);
  return ({ begin, record }) => ({
    begin,
    record: (call, outcome) => {
      calls.inc({ provider: call.route.dialect.label, status: outcome.status });
      return record(call, outcome);
    },
  });
}
