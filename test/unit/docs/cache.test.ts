import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { responseKey } from '../../../gateway/cache/key.ts';
import { parseCacheOptions } from '../../../gateway/cache/mod.ts';
import { CHAT } from '../../../gateway/endpoints/endpoint.ts';
import { gatewayMetrics } from '../../../gateway/metrics.ts';
import { prepareBody } from '../../../gateway/providers/prepare-request.ts';
import { createResolver } from '../../../gateway/providers/resolve.ts';
import { parseRequestBody } from '../../../gateway/request/body.ts';
import { readCallHeaders } from '../../../gateway/request/headers.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/guides/cache.md'), 'utf8');

const wishOf = (...headers: string[]) =>
  parseCacheOptions(readCallHeaders(['Service-Cache-Enabled', 'true', ...headers]).cache, null);
const DEFAULT = wishOf();

t.test(
  'the gateway reads every header of docs/guides/cache.md, with the values and defaults given there',
  async (t) => {
    const names = rowsOf(document, 'header').map(([name = '']) => name.replaceAll('`', ''));
    t.same(names, [
      'Service-Cache-Enabled',
      'Cache-Control',
      '',
      '',
      'Service-Cache-Seed',
      'Service-Cache-Bucket-Max-Size',
      'Service-Cache-Coalesce',
    ]);
    const day = 86_400_000;
    t.same(DEFAULT, { maxAgeMs: 7 * day, bucketSize: 1, seed: null, isReading: true, isCoalescing: false });
    t.same(wishOf('Cache-Control', 'max-age=999999999'), { ...DEFAULT, maxAgeMs: 365 * day });
    t.same(wishOf('Cache-Control', 'no-cache'), { ...DEFAULT, isReading: false });
    t.equal(wishOf('Cache-Control', 'no-store'), null);
    t.same(wishOf('Service-Cache-Seed', 'ada'), { ...DEFAULT, seed: 'ada' });
    t.throws(() => wishOf('Service-Cache-Seed', 'a'.repeat(1_025)), { code: 'invalid_header' });
    t.same(wishOf('Service-Cache-Bucket-Max-Size', '20'), { ...DEFAULT, bucketSize: 20 });
    t.throws(() => wishOf('Service-Cache-Bucket-Max-Size', '21'), { code: 'invalid_header' });
    t.same(wishOf('Service-Cache-Coalesce', '1'), { ...DEFAULT, isCoalescing: true });
  },
);

t.test(
  'the two bodies of docs/guides/cache.md share a cache key, and a stream of one has another',
  async (t) => {
    const config = readConfig({ OPENAI_API_KEY: 'sk-operator' });
    if (!config.ok) throw new Error(config.problems.join('\n'));
    const route = createResolver(config.config.providers);
    const keyOf = async (text: string) => {
      const body = await parseRequestBody(Buffer.from(text), CHAT);
      const found = route(body.model);
      const { provider, model } = found;
      return responseKey({
        organizationId: 'o',
        path: '/v1/chat/completions',
        provider,
        model,
        body: (
          await prepareBody(found, body, CHAT, { organizationId: 'o', signal: new AbortController().signal })
        ).body,
        headers: [],
        seed: null,
      });
    };
    const [one, other] = [...document.matchAll(/```json\n(.*?)```/gs)].map(([, body]) => body!);
    t.equal(await keyOf(one!), await keyOf(other!));
    t.not(await keyOf(one!.replace('{', '{"stream": true, ')), await keyOf(other!));
  },
);

t.test('docs/guides/cache.md has every metric of the cache, and no other', async (t) => {
  const metrics = createMetrics('gateway');
  const counts = { memoryHits: 0, storeHits: 0, misses: 0, coalesced: 0, dropped: 0 };
  gatewayMetrics(metrics, { counts });
  const there = [...(await metrics.text()).matchAll(/# TYPE (assay_cache_\w+) /g)].map(([, name]) => name);
  const documented = [...document.matchAll(/`(assay_\w+)`/g)].map(([, name]) => name);
  t.same(documented.sort(), there.sort());
});
