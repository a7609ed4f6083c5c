/** The delivery of a request: `GET /v1/request/{id}/delivery`. */
import { join } from 'node:path';
import t from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { Drain } from '../../../../ingest/drain.ts';
import { BatchStore } from '../../../../ingest/store-batch.ts';
import { createTokenCounter } from '../../../../ingest/tokens/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { logEntry } from '../../../support/log-entries.ts';
import { requestRecordFields } from '../../../support/record-fields.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const counter = createTokenCounter({ clock: systemClock, onFailure: () => {}, timeoutMs: 30_000 });

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});
t.teardown(async () => {
  await counter.close();
});

const ANSWER = {
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' } }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

function options() {
  return { sql: api.database.sql, log, clock: systemClock, retentionDays: null, counter };
}

/** Stores an entry as the gateway would have written it, and returns its id. */
async function stored(head: Partial<LogEntryHead> = {}, response: unknown = ANSWER): Promise<string> {
  const { organizationId } = api.own;
  const request = { messages: [{ role: 'user', content: 'hello' }] };
  const entry = logEntry({ organizationId, ...head }, { request, response });
  await new BatchStore(options()).store({ entries: [{ ...entry, origin: 'test/1' }] });
  return entry.id;
}

async function delivery(id: string): Promise<{ attempts: unknown[] }> {
  const answer = await api.call(`/v1/request/${id}/delivery`);
  t.equal(answer.status, 200, answer.text);
  t.equal(answer.body.error, null);
  return answer.body.data as { attempts: unknown[] };
}

t.test('the delivery of a call answered at once has one attempt with the requested model', async (t) => {
  const id = await stored({ latencyMs: 250, stream: false });
  t.strictSame(await delivery(id), {
    request_id: id,
    api_key_id: (await api.database.sql`select api_key_id from assay.requests`)[0]!.api_key_id,
    cached_from: null,
    attempts: [{ provider: 'OPENAI', model: 'gpt-4o-mini', status: 200, error_code: null, latency_ms: 250 }],
    usage_estimated: false,
    price_source: (await api.database.sql`select price_source from assay.requests`)[0]!.price_source,
    error_code: null,
    truncated: false,
    stream: false,
  });
});

t.test('the only attempt of a routed call shows the name of the model at its provider', async (t) => {
  const head = { requestModel: 'fast', routedModel: 'gpt-4o-mini', latencyMs: 250 };
  const id = await stored(head);
  t.strictSame((await delivery(id)).attempts, [
    { provider: 'OPENAI', model: 'gpt-4o-mini', status: 200, error_code: null, latency_ms: 250 },
  ]);
  const limited = await stored({ ...head, status: 429, errorCode: 'rate_limit_exceeded' }, {});
  t.strictSame((await delivery(limited)).attempts, []);
  const cached = await stored({ ...head, cachedFrom: id });
  t.strictSame((await delivery(cached)).attempts, []);
});

t.test('the delivery of a call with several attempts shows each of them, in order', async (t) => {
  const tries = [
    { provider: 'OPENAI', model: 'gpt-4o-mini', status: 429, errorCode: null, latencyMs: 120 },
    { provider: 'OPENAI', model: 'gpt-4o-mini', status: 0, errorCode: 'provider_timeout', latencyMs: 30_000 },
    { provider: 'AZURE', model: 'my\0deployment', status: 200, errorCode: null, latencyMs: 480 },
  ];
  const id = await stored({ provider: 'AZURE', attempts: tries, latencyMs: 31_000 });
  t.match(await delivery(id), {
    attempts: [
      { provider: 'OPENAI', model: 'gpt-4o-mini', status: 429, error_code: null, latency_ms: 120 },
      {
        provider: 'OPENAI',
        model: 'gpt-4o-mini',
        status: 0,
        error_code: 'provider_timeout',
        latency_ms: 30_000,
      },
      { provider: 'AZURE', model: 'my\ufffddeployment', status: 200, error_code: null, latency_ms: 480 },
    ],
  });
  const record = (await api.call(`/v1/request/${id}`)).body.data as object;
  t.strictSame(
    Object.keys(record),
    requestRecordFields,
    'and the record has the fields that every record has',
  );
});

t.test('the delivery of a cache hit names the request that stored it, and no attempt', async (t) => {
  const first = newRequestId();
  const id = await stored({ cachedFrom: first, stream: true });
  const shown = await delivery(id);
  t.match(shown, { cached_from: first, stream: true });
  t.strictSame(shown.attempts, []);
});

t.test('the delivery of a rate-limited call has no attempt, that of a failed call has one', async (t) => {
  const limited = await stored({ status: 429, errorCode: 'rate_limit_exceeded' }, {});
  t.strictSame((await delivery(limited)).attempts, []);
  const refused = await stored({ status: 429 }, {});
  t.match(await delivery(refused), { attempts: [{ status: 429, error_code: null }], error_code: null });
  const failed = await stored({ status: 504, errorCode: 'provider_timeout', truncated: true }, {});
  t.match(await delivery(failed), {
    attempts: [{ provider: 'OPENAI', model: 'gpt-4o-mini', status: 504, error_code: 'provider_timeout' }],
    error_code: 'provider_timeout',
    truncated: true,
  });
});

t.test('the delivery of a request with estimated tokens is marked', async (t) => {
  const id = await stored({}, { ...ANSWER, usage: undefined });
  t.match(await delivery(id), { usage_estimated: true, price_source: /^genai-prices@/ });
});

t.test('a request logged by its caller has a delivery', async (t) => {
  const answer = await api.call('/v1/log/request', {
    body: {
      provider: 'mistral',
      model: 'mistral-small',
      request: { body: { messages: [] }, created_at: '2026-03-01T12:00:00.000Z' },
      response: { body: {}, status: 200, created_at: '2026-03-01T12:00:01.250Z' },
    },
  });
  const { request_id: id } = answer.body.data as { request_id: string };
  const drain = new Drain({ ...options(), root: join(api.dataDir, 'outbox'), onStored: () => {} });
  drain.stop();
  await drain.run();
  t.match(await delivery(id), {
    request_id: id,
    cached_from: null,
    attempts: [
      { provider: 'MISTRAL', model: 'mistral-small', status: 200, error_code: null, latency_ms: 1_250 },
    ],
    usage_estimated: false,
    price_source: null,
  });
});

t.test('the delivery of an unknown request, or of another organization’s, is refused', async (t) => {
  const id = await stored();
  const path = (of: string) => `/v1/request/${of}/delivery`;
  t.match(await api.call(path('nobody')), {
    status: 404,
    body: { data: null, error: 'There is no request with the id "nobody"' },
  });
  const foreign = await api.call(path(id), { key: api.other.key });
  t.match(foreign, { status: 404, body: { data: null, error: `There is no request with the id "${id}"` } });
  t.equal((await api.call(path(id), { key: null })).status, 401);
  t.equal((await api.call(path(id), { key: await api.own.keyWith(['write']) })).status, 403);
  t.equal((await api.call(path(id), { method: 'POST', body: {} })).status, 405);
  t.equal((await api.call(`${path(id)}/`)).status, 200, 'with a slash at its end too');
});
