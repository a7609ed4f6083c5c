import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { serve } from '#platform/http-server/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { connectPostgres, migrate } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { NO_PROVIDER_KEYS } from '#platform/provider-keys/mod.ts';
import type { AlertService } from '../../../../api/alerts/mod.ts';
import { createApiApp } from '../../../../api/app.ts';
import type { AuditService } from '../../../../api/audit/mod.ts';
import type { DatasetService } from '../../../../api/datasets/mod.ts';
import type { DeadLetterService } from '../../../../api/dead-letters/mod.ts';
import type { ErasureService } from '../../../../api/erasure/mod.ts';
import type { EvaluatorService } from '../../../../api/evaluators/mod.ts';
import type { ExperimentService } from '../../../../api/experiments/mod.ts';
import type { GradeService } from '../../../../api/grades/mod.ts';
import type { KeyService } from '../../../../api/keys/mod.ts';
import type { LoginService } from '../../../../api/login/mod.ts';
import type { MetricsService } from '../../../../api/metrics/mod.ts';
import type { ModelService } from '../../../../api/models/mod.ts';
import type { OrganizationService } from '../../../../api/organization/mod.ts';
import type { Playground } from '../../../../api/playground/mod.ts';
import type { PromptService } from '../../../../api/prompts/mod.ts';
import type { PropertyService } from '../../../../api/properties/mod.ts';
import type { ProviderKeyService } from '../../../../api/provider-keys/mod.ts';
import { createRequestService, type RequestService } from '../../../../api/requests/mod.ts';
import type { ReviewService } from '../../../../api/review/mod.ts';
import type { RowService } from '../../../../api/rows/mod.ts';
import type { SessionService } from '../../../../api/sessions/mod.ts';
import type { SystemService } from '../../../../api/system/mod.ts';
import type { UserService } from '../../../../api/users/mod.ts';
import type { ViewService } from '../../../../api/views/mod.ts';
import type { WebhookService } from '../../../../api/webhooks/mod.ts';
import { startEmbeddedPostgres } from '../../../../supervisor/postgres/server.ts';
import { startTestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const QUERY = '/v1/request/query';
const health = { metrics: createMetrics('test'), checks: {} };
const log = createLogger({ role: 'test', level: 'silent' });

/** An API whose parts a test chooses; every key is valid and belongs to `organizationId`. */
async function serveApp(organizationId: string, requests: RequestService) {
  const scopes = new Set(['read', 'write'] as const);
  const keys = {
    find: () => ({
      keyId: 'k',
      organizationId,
      scopes,
      tier: 'free' as const,
      logsPer5s: null,
      rateLimitPolicy: null,
      countedAs: 'k',
      expiresAtMs: null,
      allowed: null,
      providerKeys: NO_PROVIDER_KEYS,
    }),
    ofBrowser: async () => null,
  };
  const logRequest = () => Promise.reject(new Error('nothing is logged here'));
  const evaluators = {} as EvaluatorService;
  const limits = { usage: async () => [] };
  const prompts = {} as PromptService;
  const providerKeys = {} as ProviderKeyService;
  const app = createApiApp({
    ports: { gateway: null, api: null },
    dashboard: 'off',
    keys,
    requests,
    grades: {} as GradeService,
    review: {} as ReviewService,
    rows: {} as RowService,
    alerts: {} as AlertService,
    views: {} as ViewService,
    playground: {} as Playground,
    models: {} as ModelService,
    datasets: {} as DatasetService,
    deadLetters: {} as DeadLetterService,
    sessions: {} as SessionService,
    system: {} as SystemService,
    erasure: {} as ErasureService,
    evaluators,
    experiments: {} as ExperimentService,
    limits,
    login: {} as LoginService,
    metrics: {} as MetricsService,
    prompts,
    providerKeys,
    apiKeys: {} as KeyService,
    users: {} as UserService,
    webhooks: {} as WebhookService,
    properties: {} as PropertyService,
    organization: {} as OrganizationService,
    audit: {} as AuditService,
    logRequest,
    maxBodyBytes: 1_024,
    health,
    log,
  });
  const server = await serve({ fetch: app.fetch, host: '127.0.0.1', port: 0 });
  const query = (body: object) =>
    fetch(`${server.url}${QUERY}`, {
      method: 'POST',
      headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { query, stop: () => server.close(200) };
}

t.test('a query that takes too long is cancelled with advice on how to narrow it', async (t) => {
  const api = await startTestApi(t);
  const { url } = api.database;
  const sql = connectAsApi(url, { max: 2, statementTimeoutMs: 2_000 });
  t.teardown(() => sql.end());
  const app = await serveApp(api.own.organizationId, createRequestService({ sql, clock: systemClock }));
  t.teardown(() => app.stop());
  await api.database.sql.begin(async (tx) => {
    await tx`lock table assay.requests in access exclusive mode`;
    const answer = await app.query({ filter: 'all' });
    t.equal(answer.status, 503);
    t.strictSame(await answer.json(), {
      data: null,
      error:
        'The query took too long: narrow it, for example by request.created_at, or compare fields other than bodies and values',
    });
  });
  t.equal((await app.query({ filter: 'all' })).status, 200, 'and the next one works');
});

t.test('an unexpected error is reported without its details', async (t) => {
  const boom = () => Promise.reject(new Error('select secret from assay.requests; password=hunter2'));
  const app = await serveApp('o', { query: boom } as unknown as RequestService);
  t.teardown(() => app.stop());
  const answer = await app.query({ filter: 'all' });
  t.equal(answer.status, 500);
  t.match(answer.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
  t.strictSame(await answer.json(), {
    data: null,
    error: 'Something went wrong in Assay; its log has the details',
  });
});

t.test('a Postgres without room for locks is a 503, as one that is away', async (t) => {
  const full = () => Promise.reject(Object.assign(new Error('out of shared memory'), { code: '53200' }));
  const app = await serveApp('o', { query: full } as unknown as RequestService);
  t.teardown(() => app.stop());
  const answer = await app.query({ filter: 'all' });
  t.strictSame([answer.status, answer.headers.get('retry-after')], [503, '1']);
});

t.test('a response that breaks off in the middle does not look complete', async (t) => {
  async function* texts() {
    yield '{"request_id":"a"}';
    await sleep(50);
    throw new Error('the store went away');
  }
  const app = await serveApp('o', {
    query: async () => ({ texts: texts(), isWhole: false }),
  } as unknown as RequestService);
  t.teardown(() => app.stop());
  const answer = await app.query({ filter: 'all' });
  t.equal(answer.status, 200);
  await t.rejects(answer.text());
});

t.test('a client that disconnects ends the reading of its page from Postgres', async (t) => {
  let returned = false;
  async function* texts() {
    try {
      for (;;) yield JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
    } finally {
      returned = true;
    }
  }
  const app = await serveApp('o', {
    query: async () => ({ texts: texts(), isWhole: false }),
  } as unknown as RequestService);
  t.teardown(() => app.stop());
  const answer = await app.query({ filter: 'all' });
  const reader = answer.body!.getReader();
  await reader.read();
  await reader.cancel();
  for (let wait = 0; wait < 100 && !returned; wait += 1) await sleep(20);
  t.ok(returned);
});

t.test(
  'while Postgres is unavailable calls of the API are refused as such, and succeed once it is back',
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'assay-test-away-'));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const first = await startEmbeddedPostgres({ dataDir, log });
    await migrate(first.url);
    const sql = connectPostgres({
      url: first.url,
      max: 2,
      applicationName: 'test',
      statementTimeoutMs: 5_000,
    });
    const api = await startTestApi(t, { database: { url: first.url, sql } });
    await insertRequests(api.database.sql, api.own.organizationId, [{}]);
    t.equal((await api.query({ filter: 'all' })).length, 1);
    t.equal((await api.call('/readyz')).status, 200);

    await first.stop();
    const start = performance.now();
    const away = await api.call(QUERY, { body: { filter: 'all' } });
    t.equal(away.status, 503);
    t.strictSame(away.body, { data: null, error: 'The store of requests is unavailable now: try again' });
    t.ok(performance.now() - start < 6_000, 'soon');
    t.equal((await api.call('/healthz')).status, 200);
    const ready = await api.call('/readyz');
    t.equal(ready.status, 503);
    t.match(ready.text, '"postgres":"failed"');

    const second = await startEmbeddedPostgres({ dataDir, log, port: first.port });
    t.teardown(() => second.stop());
    let status = 0;
    for (let attempt = 0; attempt < 50 && status !== 200; attempt += 1) {
      await sleep(100);
      ({ status } = await api.call(QUERY, { body: { filter: 'all' } }));
    }
    t.equal(status, 200);
  },
);

t.test('health and metrics need no key', async (t) => {
  const api = await startTestApi(t);
  const metrics = await api.call('/metrics', { key: null });
  t.equal(metrics.status, 200);
  t.match(metrics.text, 'process_cpu_seconds_total');
  t.match(metrics.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
});
