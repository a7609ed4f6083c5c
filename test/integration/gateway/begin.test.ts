/** When the provider hears of a call: after its START is committed, and only if the client is still there. */
import t, { type Test } from 'tap';
import { createProviderClient, type ProviderClient } from '#platform/http-client/mod.ts';
import { createBodySlots, serve } from '#platform/http-server/mod.ts';
import type { ApiKey } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { NO_PROVIDER_KEYS } from '#platform/provider-keys/mod.ts';
import { createGatewayApp } from '../../../gateway/app.ts';
import { LOGGED } from '../../../gateway/limits/logging-rate.ts';
import { createModelLists } from '../../../gateway/models/model-list.ts';
import { createResolver } from '../../../gateway/providers/resolve.ts';
import { createAuthenticator } from '../../../gateway/request/authenticate.ts';
import type { Outcome } from '../../../gateway/request/call.ts';
import { createCallHandler } from '../../../gateway/request/handle.ts';
import { LateRecords } from '../../../gateway/request/record.ts';
import { createProviderSources } from '../../../gateway/response/provider-sources.ts';
import { createAttemptLoop, createCircuitBreaker, createPlanner } from '../../../gateway/routing/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { configOf, scriptedProvider } from '../../support/world.ts';

const API_KEY: ApiKey = {
  keyId: '00000000-0000-4000-8000-000000000002',
  organizationId: '00000000-0000-4000-8000-000000000001',
  scopes: new Set(['gateway']),
  tier: 'free',
  logsPer5s: null,
  rateLimitPolicy: null,
  countedAs: '00000000-0000-4000-8000-000000000002',
  expiresAtMs: null,
  allowed: null,
  providerKeys: NO_PROVIDER_KEYS,
};

/** A gateway whose START is committed when the test says so. */
async function setUp(t: Test, replaced: Partial<ProviderClient> = {}) {
  const provider = await scriptedProvider(t);
  const config = configOf({ OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url });
  const client = createProviderClient({
    timeouts: config.providerTimeouts,
    now: systemClock.monotonic,
    concurrencyPerOrganization: config.providerConcurrencyPerOrganization,
  });
  const attemptLoop = createAttemptLoop({
    breaker: createCircuitBreaker({ clock: systemClock }),
    clock: systemClock,
    random: Math.random,
    sleep: () => t.fail('nothing is tried again') as never,
  });
  const outcomes: Outcome[] = [];
  const begun = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<boolean>();
  const app = createGatewayApp({
    ports: { gateway: null, api: null },
    handleCall: createCallHandler({
      clock: systemClock,
      log: createLogger({ role: 'test', level: 'silent' }),
      retentionDays: null,
      maxBodyBytes: config.maxBodyBytes,
      bodySlots: createBodySlots({ bytes: 1, maxBodyBytes: config.maxBodyBytes }),
      authenticate: createAuthenticator(
        { find: () => API_KEY, findById: async () => API_KEY, providerKeysOf: () => NO_PROVIDER_KEYS },
        { evaluationOf: () => null, experimentOf: () => null, keyOf: () => null },
      ),
      expandPrompt: () => t.fail('the call names no prompt') as never,
      plan: createPlanner({ resolve: createResolver(config.providers), groups: [], random: Math.random }),
      fromProviders: createProviderSources({ ...client, ...replaced }, attemptLoop, {
        maxHeldBytes: config.maxBodyBytes,
        now: systemClock.monotonic,
      }),
      recorder: {
        begin: () => {
          begun.resolve();
          return committed.promise;
        },
        record: async (_logged, { outcome }) => {
          outcomes.push(outcome);
          return true;
        },
      },
      lateRecords: new LateRecords(),
      reserveRequestId: async () => true,
      lookUpCache: () => t.fail('no call uses the cache') as never,
      limits: { limitOf: () => null, admit: () => t.fail('no call is under a limit') as never },
      logging: { decide: () => LOGGED },
    }),
    models: createModelLists([], () => null),
    health: { metrics: createMetrics('gateway'), checks: {} },
  });
  const server = await serve({ fetch: app.fetch, host: '127.0.0.1', port: 0 });
  t.teardown(async () => {
    await server.close(0);
    await client.close();
  });
  const chat = (signal?: AbortSignal) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
      ...(signal && { signal }),
    });
  return { provider, outcomes, begun: begun.promise, commit: committed.resolve, chat };
}

for (const kept of [true, false]) {
  t.test(`the provider is called only after the START was ${kept ? 'committed' : 'refused'}`, async (t) => {
    const { provider, outcomes, begun, commit, chat } = await setUp(t);
    const answer = chat();
    await begun;
    // A call of its own goes through in the meantime: time enough for an early one to arrive.
    await fetch(`${provider.url}/chat/completions`, {
      method: 'POST',
      body: '{"model":"probe","messages":[]}',
    });
    t.equal(provider.requests.length, 1, 'nothing but the probe');
    commit(kept);
    t.equal((await answer).status, 200);
    t.equal(provider.requests.length, 2);
    t.same(
      outcomes.map(({ status }) => status),
      [200],
    );
  });
}

t.test(
  'a client that disconnects while the START is committed is recorded, and its provider never called',
  async (t) => {
    const { provider, outcomes, begun, commit, chat } = await setUp(t);
    const leaving = new AbortController();
    const answer = chat(leaving.signal);
    await begun;
    leaving.abort();
    await t.rejects(answer);
    commit(true);
    await waitFor('its record', () => outcomes.length === 1);
    await fetch(`${provider.url}/chat/completions`, {
      method: 'POST',
      body: '{"model":"probe","messages":[]}',
    });
    t.equal(provider.requests.length, 1, 'nothing but the probe');
    t.match(outcomes, [{ status: 499, errorCode: 'client_closed_request' }]);
  },
);

t.test('a call whose provider request cannot be sent is answered with 500 and recorded', async (t) => {
  const send = () => {
    throw new Error('no such header');
  };
  const { outcomes, commit, chat } = await setUp(t, { send });
  commit(true);
  const answer = await chat();
  t.equal(answer.status, 500);
  t.match(await answer.json(), { error: { code: 'internal_error' } });
  t.match(outcomes, [{ status: 500, errorCode: 'internal_error', truncated: true }]);
});
