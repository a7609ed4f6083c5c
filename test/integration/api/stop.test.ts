/** The end of the API, whatever PostgreSQL does meanwhile. */
import t from 'tap';
import { STOP_GRACE_MS } from '#platform/process/lifecycle.ts';
import { startTestApi } from '../../support/api.ts';
import { testDatabase } from '../../support/postgres.ts';
import { tcpProxy } from '../../support/tcp-proxy.ts';

t.test('an API whose PostgreSQL hangs stops within the grace of a role', async (t) => {
  const database = await testDatabase();
  t.teardown(database.close);
  const proxy = await tcpProxy(database.url);
  t.teardown(proxy.close);
  const api = await startTestApi(t, { database, environment: { DATABASE_URL: proxy.url } });
  // Connections of most pools stand, and notes of the key wait to be written.
  await Promise.all([
    api.query({ filter: 'all' }),
    api.call('/v1/rate-limit/usage'),
    api.call('/v1/dead-letter'),
    api.call('/v1/request/delete', { body: { q: 'status:599' } }),
  ]);
  proxy.freeze();
  const stoppedAt = performance.now();
  await api.stop();
  const tookMs = performance.now() - stoppedAt;
  t.ok(tookMs < STOP_GRACE_MS, `it took ${Math.round(tookMs)} ms`);
});
