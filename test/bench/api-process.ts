/** The process of `serveApi`: `node api-process.ts <url of PostgreSQL> <data directory>`. Its note is the API's address. */
import { once } from 'node:events';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startApi } from '../../api/mod.ts';
import { retryDeadLetter } from '../../ingest/mod.ts';
import { configOver } from './cluster.ts';
import { help } from './helper.ts';

const [url = '', dataDir = ''] = process.argv.slice(2);

await help(async ({ stopping, ready, note }) => {
  const log = createLogger({ role: 'bench', level: 'warn' });
  const api = await startApi({
    config: configOver({ url, dataDir }),
    log,
    clock: systemClock,
    retryDeadLetter,
  });
  note(`${api.address}`);
  ready();
  await once(stopping, 'abort');
  await api.stop();
  return null;
});
