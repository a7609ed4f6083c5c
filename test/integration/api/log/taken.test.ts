/** Rules for logging requests made elsewhere: owner, unique id, size, and behaviour in failures. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import t from 'tap';
import { reserveRequestId } from '#platform/keys/mod.ts';
import { openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { createRequestLog } from '../../../../api/log/mod.ts';
import { startTestApi } from '../../../support/api.ts';
import { freePort } from '../../../support/free-port.ts';
import { call, LOG, startLogWorld } from './world.ts';

const { api, ingest, logged, record } = await startLogWorld(t);
const log = createLogger({ role: 'test', level: 'silent' });

t.test('a logged request belongs to the organization of its API key', async (t) => {
  const id = await logged(call({ user_id: 'theirs' }), api.other.key);
  await ingest();
  t.equal((await api.call(`/v1/request/${id}`)).status, 404);
  t.strictSame(await api.query({ filter: { request: { user_id: { equals: 'theirs' } } } }), []);
  const found = await api.query({ filter: { request: { user_id: { equals: 'theirs' } } } }, api.other.key);
  t.equal(found[0]?.request_id, id);
});

t.test('a request id is logged once in an organization, also by concurrent calls', async (t) => {
  const { sql } = api.database;
  for (const id of [newRequestId(), '5F0C1D1E-2f43-4f6e-8a53-0123456789ac']) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, user) =>
        api.call(LOG, { body: call({ request_id: id, user_id: `${user}` }) }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 409);
    t.equal(refused.length, 9);
    t.strictSame(refused[0]?.body, { data: null, error: `The request_id ${id} was used before` });
    t.equal(await logged(call({ request_id: id }), api.other.key), id, 'another organization has its own');
    await ingest();
    const rows = await sql`select 1 from assay.requests where request_id = ${id}`;
    t.equal(rows.length, 2);
    t.equal((await api.call(LOG, { body: call({ request_id: id }) })).status, 409, 'also once it is stored');
  }
  const ofGateway = newRequestId();
  await reserveRequestId(sql, api.own.organizationId, ofGateway);
  t.equal((await api.call(LOG, { body: call({ request_id: ofGateway }) })).status, 409);
});

t.test(
  'a request under an id of its caller is erased before it is stored, and is dropped when it comes',
  async (t) => {
    const id = await logged(call({ request_id: newRequestId() }));
    await logged(call({ request_id: id }), api.other.key);
    const erase = () => api.call(`/v1/request/${id}`, { method: 'DELETE' });
    t.equal((await erase()).status, 200);
    t.equal((await erase()).status, 200, 'again');
    await ingest();
    t.equal((await api.call(`/v1/request/${id}`)).status, 404);
    t.equal(
      (await api.call(`/v1/request/${id}`, { key: api.other.key })).status,
      200,
      "another organization's",
    );
    t.equal((await api.call(LOG, { body: call({ request_id: id }) })).status, 409);
    const audit = await api.database.sql`
    select changes from assay.audit_log where action = 'erase' and target_id = ${id}`;
    t.strictSame(
      audit.map(({ changes }) => changes),
      [{ requests: 1 }],
    );
  },
);

t.test('a refused call to log a request leaves its id free', async (t) => {
  const id = newRequestId();
  const wrong = { ...call({ request_id: id }), model: '' };
  t.equal((await api.call(LOG, { body: wrong })).status, 400);
  t.equal(await logged(call({ request_id: id })), id);
});

t.test(
  'a call to log a request is refused when the outbox is full, counted, and leaves its id free',
  async (t) => {
    const small = await startTestApi(t, { environment: { OUTBOX_MAX_BYTES: String(1024 * 1024) } });
    const id = newRequestId();
    const large = call({ request_id: id }, { body: { text: 'x'.repeat(1024 * 1024) } });
    const metric = async () =>
      /^assay_not_logged_total\{role="api"\} (\d+)$/m.exec((await small.call('/metrics')).text)?.[1];
    t.equal(await metric(), '0');
    for (const body of [large, { ...large, request_id: null }]) {
      const answer = await small.call(LOG, { body });
      t.equal(answer.status, 503);
      t.equal(answer.headers.get('retry-after'), '1');
      t.strictSame(answer.body, {
        data: null,
        error: 'The request was not logged: the outbox is full or cannot be written now; try again',
      });
    }
    t.equal(await metric(), '2');
    t.equal((await small.call(LOG, { body: call({ request_id: id }) })).status, 200, 'the id is still free');
    t.equal(await metric(), '2');
    await ingest(small);
    t.equal((await small.query({ filter: 'all' })).length, 1);
  },
);

t.test('requests are logged while Postgres is unavailable', async (t) => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 1_000 });
  const root = join(api.dataDir, 'outbox');
  const outbox = await openOutbox({ root, id: newRequestId(), maxBytes: 1e9, sync: 'process', log });
  t.teardown(async () => {
    await outbox.close();
    await sql.end();
  });
  const logs = { admit: () => assert.fail('an organization without a rate has nothing to count') };
  const logRequest = createRequestLog({ outbox, logs, sql, retentionDays: null, clock: systemClock, log });
  const { organizationId } = api.own;
  const key = { keyId: organizationId, organizationId, logsPer5s: null };
  const id = newRequestId();
  const body = call({ request_id: id });
  const { request, response } = body;
  const written = [request.body, response.body].map((one) => Buffer.from(JSON.stringify(one)));
  t.equal(await logRequest(key, { body, written }), id);
  t.equal(await logRequest(key, { body, written }), id, 'sent twice');
  await ingest();
  t.equal((await api.database.sql`select 1 from assay.requests where request_id = ${id}`).length, 1);
});

t.test('a logged body may be as large as on the gateway', async (t) => {
  const text = 'x'.repeat(5 * 1024 * 1024);
  t.strictSame((await record(call({}, { body: { text } }))).response_body, { text });
});

t.test('a request older than the retention is refused', async (t) => {
  const brief = await startTestApi(t, { environment: { RETENTION_DAYS: '30' } });
  const daysAgo = (days: number) => {
    const at = Date.now() - days * 86_400_000;
    return brief.call(LOG, {
      body: call({ request: { body: {}, created_at: at } }, { created_at: at + 1 }),
    });
  };
  t.equal((await daysAgo(29.9)).status, 200);
  const refused = await daysAgo(30.1);
  t.equal(refused.status, 400);
  const keptFrom = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  t.match(refused.body.error, `milliseconds since the epoch, from ${keptFrom}T`);
});
