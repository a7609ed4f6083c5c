/** The sinks in a process of their own, as beside ingest: `node sinks-process.ts <url> <data directory>`. */
import { once } from 'node:events';
import { createLogger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startSinks } from '../../../sinks/mod.ts';
import { configOver } from '../cluster.ts';
import { help } from '../helper.ts';

const [url = '', dataDir = ''] = process.argv.slice(2);

await help(async ({ stopping, ready }) => {
  const sinks = startSinks({
    config: configOver({ url, dataDir }),
    log: createLogger({ role: 'bench', level: 'warn' }),
    clock: systemClock,
    metrics: createMetrics('bench'),
  });
  ready();
  if (!stopping.aborted) await once(stopping, 'abort');
  await sinks.stop();
});
