import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parsePolicy, rateLimitHeaders } from '#core/rate-limit/mod.ts';
import { LOGS_PER_5S } from '#platform/keys/mod.ts';
import { createLimiter } from '#platform/limiter/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createLimitService } from '../../../api/limits/mod.ts';
import { countDegraded } from '../../../api/log/mod.ts';
import { OPENAI_ERRORS } from '../../../gateway/endpoints/error-format.ts';
import { gatewayMetrics } from '../../../gateway/metrics.ts';
import { ownErrorBody } from '../../../gateway/response/reply.ts';
import { waitFor } from '../../support/assay.ts';
import { rowsOf } from '../../support/markdown-tables.ts';
import { testDatabase } from '../../support/postgres.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/guides/limits.md'), 'utf8');
const unquoted = (text: string) => text.replaceAll('`', '');

/** What a call in its example is told when the quota is used up. */
const REFUSED = {
  isAdmitted: false,
  policy: parsePolicy('2;w=60;s=user'),
  remaining: 0,
  resetMs: 60_400,
  retryAfterMs: 60_400,
  isDegraded: false,
};

t.test('wrong policies in docs/guides/limits.md are refused with the message beside them', async (t) => {
  const rows = rowsOf(document, 'policy');
  t.ok(rows.length > 5);
  for (const [policy = '', message = ''] of rows) {
    t.throws(() => parsePolicy(unquoted(policy)), { code: 'invalid_rate_limit_policy', message });
  }
});

t.test('the example policies in docs/guides/limits.md are accepted', async (t) => {
  const policies = [...document.matchAll(/(?:Service-RateLimit-Policy: |--rate-limit-policy ')([^']+)'/g)];
  t.equal(policies.length, 2);
  for (const [, policy] of policies) t.doesNotThrow(() => parsePolicy(policy!), policy!);
});

t.test('docs/guides/limits.md has every header that reports a limit, and no other', async (t) => {
  const documented = rowsOf(document, 'header').flatMap(([names = '']) => unquoted(names).split(', '));
  const sent = rateLimitHeaders({ ...REFUSED, isDegraded: true }).map(([name]) => name);
  t.same(documented.sort(), sent.sort());
});

t.test('the 429 in docs/guides/limits.md is the response to a refused call', async (t) => {
  const [, head = '', body = ''] = /```http\n(.*?)```\n\n```json\n(.*?)```/s.exec(document) ?? [];
  const told = rateLimitHeaders(REFUSED).map(([name, value]) => `${name.toLowerCase()}: ${value}`);
  t.same(head.trim().split('\n').slice(1), told);
  const { error } = JSON.parse(body);
  t.same(
    JSON.parse(
      ownErrorBody({ code: 'rate_limit_exceeded', message: error.message }, OPENAI_ERRORS).toString(),
    ),
    { error },
  );
});

t.test('docs/guides/limits.md has the logging rate of each tier', async (t) => {
  const rates = rowsOf(document, 'tier').map(([tier = '', rate = '']) => [
    unquoted(tier),
    rate === 'all' ? null : Number(rate.replaceAll(',', '')),
  ]);
  t.same(Object.fromEntries(rates), LOGS_PER_5S);
});

t.test('docs/guides/limits.md has every field of the usage, in the table and in the example', async (t) => {
  const { sql, close } = await testDatabase();
  const log = createLogger({ role: 'test', level: 'silent' });
  const limiter = createLimiter({ sql, clock: systemClock, log });
  t.teardown(async () => {
    await limiter.stop(1_000);
    await close();
  });
  const organizationId = randomUUID();
  const counter = {
    organizationId,
    apiKeyId: randomUUID(),
    unit: 'request',
    segment: 'user',
    value: 'ada',
  } as const;
  for (let call = 0; call < 2; call += 1) await limiter.admit(counter, REFUSED.policy);
  // On a busy machine the first call can be admitted without the database, and is reported to it afterwards.
  const { usage: usageOf } = createLimitService(sql);
  await waitFor('the usage of two calls', async () => (await usageOf(organizationId))[0]?.used === 2);
  const [usage] = await usageOf(organizationId);
  const [, example = ''] = /```json\n(\{"data": \[.*?)```/s.exec(document) ?? [];
  const [documented] = JSON.parse(example).data;
  t.same(
    rowsOf(document, 'field').map(([field = '']) => unquoted(field)),
    Object.keys(usage!),
  );
  t.same(
    { ...documented, api_key_id: counter.apiKeyId, reset_seconds: usage!.reset_seconds },
    usage,
    'and its first row is what two calls by its policy leave',
  );
});

t.test('the metrics in docs/guides/limits.md exist', async (t) => {
  const metrics = createMetrics('gateway');
  const counts = { memoryHits: 0, storeHits: 0, misses: 0, coalesced: 0, dropped: 0 };
  gatewayMetrics(metrics, { counts });
  const ofApi = createMetrics('api');
  countDegraded(ofApi);
  const there = (await metrics.text()) + (await ofApi.text());
  for (const [, name] of document.matchAll(/`(assay_\w+)`/g)) t.match(there, `# TYPE ${name} counter`);
});
