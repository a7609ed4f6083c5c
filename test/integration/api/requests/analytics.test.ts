import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const PATH = '/v1/request/query-clickhouse';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(api.database.sql, api.own.organizationId, [
    {
      request_id: 'ok',
      status: 200,
      properties: { Plan: 'pro' },
      created_at: new Date(Date.UTC(2026, 4, 4)),
    },
    {
      request_id: 'failed',
      status: 500,
      response_model: null,
      model: 'gpt-4o-mini',
      created_at: new Date(Date.UTC(2026, 4, 5)),
    },
  ]);
});

t.test(
  'the analytics endpoint answers a query as the query endpoint does, and names its source',
  async (t) => {
    for (const body of [
      { filter: 'all' },
      { filter: 'all', sort: { created_at: 'asc' }, limit: 1, offset: 1 },
    ]) {
      const analytics = await api.call(PATH, { body });
      t.equal(analytics.status, 200);
      t.equal(analytics.text, (await api.call('/v1/request/query', { body })).text);
      t.equal(analytics.headers.get('service-analytics-source'), 'postgres');
      t.equal(analytics.headers.get('service-analytics-lag-ms'), '0');
    }
  },
);

t.test('the analytics endpoint takes the section names of its clients', async (t) => {
  const ids = async (filter: object) => {
    const { body } = await api.call(PATH, { body: { filter: { request_response_rmt: filter } } });
    return (body.data as { request_id: string }[]).map((record) => record.request_id);
  };
  t.strictSame(await ids({ status: { gte: 500 } }), ['failed']);
  t.strictSame(await ids({ model: { equals: 'gpt-4o-mini' } }), ['failed'], 'the model that a record shows');
  t.strictSame(await ids({ properties: { plan: { equals: 'pro' } } }), ['ok']);
});

t.test(
  'the analytics endpoint refuses what we do not have, and other endpoints its section names',
  async (t) => {
    const body = { filter: { request_response_rmt: { country_code: { equals: 'NO' } } } };
    const answer = await api.call(PATH, { body });
    t.equal(answer.status, 400);
    t.match(
      answer.body.error,
      /country_code is not a field of request_response_rmt here: use one of model, request_id/,
    );
    t.equal((await api.call('/v1/request/query', { body })).status, 400);
    t.equal((await api.call(PATH, { key: null, body })).status, 401);
  },
);
