import t from 'tap';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

let api: TestApi;
let foreign: SeedRequest;
t.before(async () => {
  api = await startTestApi(t);
  const rows = await insertRequests(api.database.sql, api.other.organizationId, [
    {
      request_id: 'theirs',
      user_id: 'u',
      properties: { plan: 'pro' },
      scores: { quality: 1 },
      feedback_rating: true,
      cached_from: 'x',
      experiment_id: 'e',
      request_text: '{"secret":"s"}',
    },
  ]);
  foreign = rows[0]!;
  await insertRequests(api.database.sql, api.own.organizationId, [{ request_id: 'ours' }]);
});

t.test('no query finds a request of another organization', async (t) => {
  const FILTERS: object[] = [
    { request: { id: { equals: 'theirs' } } },
    { request: { user_id: { equals: 'u' } } },
    { request: { user_id: { 'not-equals': null } } },
    { request: { body: { contains: 'secret' } } },
    { values: { 'request.secret': { equals: 's' } } },
    { properties: { plan: { equals: 'pro' } } },
    { scores: { quality: { gte: 0 } } },
    { feedback: { rating: { equals: true } } },
    {
      left: { request: { id: { equals: 'theirs' } } },
      operator: 'or',
      right: { request: { user_id: { equals: 'u' } } },
    },
  ];
  for (const filter of FILTERS) {
    t.strictSame(await api.query({ filter }), [], JSON.stringify(filter));
    const count = await api.call('/v1/request/count/query', { body: { filter } });
    t.equal(count.body.data, 0);
    t.equal((await api.query({ filter }, api.other.key)).length, 1, 'its own organization finds it');
  }
  for (const flag of ['isCached', 'isScored', 'isPartOfExperiment']) {
    t.strictSame(await api.query({ filter: 'all', [flag]: true }), [], flag);
  }
  for (const field of ['created_at', 'latency', 'cost', 'tokens']) {
    for (const direction of ['asc', 'desc']) {
      const found = await api.query({ filter: 'all', sort: { [field]: direction } });
      t.strictSame(
        found.map((record) => record.request_id),
        ['ours'],
      );
    }
  }
});

t.test('a request id of another organization is answered like an unknown one', async (t) => {
  const answers = async (id: string) => {
    const all = await Promise.all([
      api.call(`/v1/request/${id}`),
      api.call(`/v1/request/${id}/delivery`),
      api.call('/v1/request/query-ids', { body: { requestIds: [id] } }),
      api.call(`/v1/request/${id}/feedback`, { body: { rating: false } }),
      api.call(`/v1/request/${id}/score`, { body: { scores: { quality: 0 } } }),
      api.call(`/v1/request/${id}/property`, { method: 'PUT', body: { key: 'plan', value: 'free' } }),
    ]);
    return all.map(({ status, text }) => [status, text.replaceAll(id, 'ID')]);
  };
  t.strictSame(await answers('theirs'), await answers('nobody'));
  const [record] = await api.query({ filter: 'all' }, api.other.key);
  t.match(
    record,
    { feedback_rating: true, scores: { quality: 1 }, properties: { plan: 'pro' } },
    'and nothing of it changed',
  );
});

t.test(
  'row-level security limits statements on requests to the organization of their transaction',
  async (t) => {
    const sql = connectAsApi(api.database.url);
    t.teardown(() => sql.end());
    const TABLES = ['requests', 'request_bodies', 'request_properties', 'request_scores'];
    const idsIn = async (tx: TransactionSql, table: string) =>
      (await tx`select distinct request_id from ${tx(`assay.${table}`)}`).map((row) => row.request_id);
    for (const table of TABLES) {
      t.strictSame(await idsIn(sql as never, table), [], `${table}: nothing outside an organization`);
      const seen = await inOrganization(sql, api.own.organizationId, (tx) => idsIn(tx, table));
      t.ok(
        seen.every((id) => id === 'ours'),
        `${table}: its own only`,
      );
    }
    const changed = await inOrganization(sql, api.own.organizationId, async (tx) => [
      (await tx`update assay.requests set feedback_rating = false where request_id = 'theirs' returning 1`)
        .length,
      (await tx`delete from assay.request_properties where request_id = 'theirs' returning 1`).length,
      (await tx`update assay.request_scores set value = 0 where request_id = 'theirs' returning 1`).length,
    ]);
    t.strictSame(changed, [0, 0, 0]);
    const { organizationId } = api.other;
    await t.rejects(
      inOrganization(
        sql,
        api.own.organizationId,
        (tx) =>
          tx`insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
        values (${organizationId}, ${foreign.created_at}, 'theirs', 'planted', 1, now())`,
      ),
      { code: '42501' },
    );
    for (const table of ['organizations', 'audit_log', 'api_key_uses']) {
      const rows = await sql`select organization_id from ${sql(`assay.${table}`)}`;
      t.equal(rows.length, 0, `${table}: nothing outside an organization`);
    }
    // Not the columns of keys that it may read: all of them, hashes included.
    for (const table of ['api_keys', 'dead_letters', 'outbox_cursors']) {
      await t.rejects(
        sql`select * from ${sql(`assay.${table}`)}`,
        { code: '42501' },
        `${table} is closed to it`,
      );
    }
  },
);
