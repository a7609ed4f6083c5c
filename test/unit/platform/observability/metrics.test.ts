import t from 'tap';
import { createMetrics } from '#platform/observability/metrics.ts';

t.test('metrics are Prometheus text, named for Assay and labelled with the role', async (t) => {
  const metrics = createMetrics('gateway');
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' }, 2);
  metrics.gauge('outbox_bytes', 'Bytes').set(7);
  metrics.histogram('request_seconds', 'Time').observe(0.003);
  const text = await metrics.text();
  t.match(text, 'assay_requests_total{status="200",role="gateway"} 2');
  t.match(text, 'assay_outbox_bytes{role="gateway"} 7');
  t.match(text, 'assay_request_seconds_bucket{le="0.005",role="gateway"} 1');
  t.match(text, 'process_cpu_seconds_total');
  t.match(metrics.contentType, /^text\/plain; version=0\.0\.4/);
});

t.test('two metrics registries may have a metric of the same name', async (t) => {
  createMetrics('api').counter('requests_total', 'Requests');
  t.doesNotThrow(() => createMetrics('api').counter('requests_total', 'Requests'));
});
