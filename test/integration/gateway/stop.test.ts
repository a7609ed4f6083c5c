/** The end of a gateway beside a PostgreSQL that does not answer, and a client that keeps its port. */
import { request } from 'node:http';
import t from 'tap';
import { STOP_GRACE_MS } from '#platform/process/lifecycle.ts';
import { createWorld } from '../../support/world.ts';

const SHUTDOWN_MS = 2_000;

for (const way of ['from disk', 'through NATS'])
  t.test(`a gateway whose PostgreSQL hangs stops within the grace of a role, ${way}`, async (t) => {
    const world = await createWorld(t);
    const proxy = await world.proxy();
    const provider = await world.provider();
    const { keyWith } = await world.organization({ name: 'acme', tier: 'enterprise' });
    const key = await keyWith(['gateway']);
    const gateway = await world.start('gateway', {
      DATABASE_URL: proxy.url,
      OPENAI_API_KEY: 'sk',
      OPENAI_BASE_URL: provider.url,
      SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_MS),
      ...(way === 'through NATS' && { NATS_URL: (await world.nats()).url }),
    });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const url = `${gateway.url}/v1/chat/completions`;
    const call = async (more: Record<string, string>, content: string) => {
      const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] });
      const response = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });
      await response.text();
      return response.status;
    };
    // Responses to store and costs to settle wait while it hangs.
    const calls = (content: string) =>
      Promise.all([
        call({ 'service-cache-enabled': 'true' }, content),
        call({ 'service-ratelimit-policy': '1000;w=60;u=cents' }, content),
      ]);
    t.same(await calls('before'), [200, 200]);
    proxy.freeze();
    t.same(await calls('while it hangs'), [200, 200]);
    const unfinished = request(url, { method: 'POST', headers: { ...headers, 'content-length': '1000' } });
    unfinished.on('error', () => {});
    await new Promise<void>((sent) => {
      unfinished.write('{"model":', () => sent());
    });
    const stoppedAt = performance.now();
    await gateway.stop();
    const tookMs = performance.now() - stoppedAt;
    t.ok(tookMs < SHUTDOWN_MS + STOP_GRACE_MS, `it took ${Math.round(tookMs)} ms`);
  });
