import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const OK = { data: null, error: null };

async function insertOne(given: Parameters<typeof insertRequests>[2][number] = {}): Promise<string> {
  const [row] = await insertRequests(api.database.sql, api.own.organizationId, [given]);
  return row!.request_id;
}
const get = async (id: string) => (await api.call(`/v1/request/${id}`)).body.data as Record<string, unknown>;
const find = async (filter: object) =>
  (await api.query({ filter, limit: 100 })).map((record) => record.request_id);
const setProperty = (id: string, key: string, value: string) =>
  api.call(`/v1/request/${id}/property`, { method: 'PUT', body: { key, value } });

t.test('a rating is found by the next query', async (t) => {
  const id = await insertOne();
  const before = Date.now();
  t.strictSame((await api.call(`/v1/request/${id}/feedback`, { body: { rating: false } })).body, OK);
  t.equal((await get(id)).feedback_rating, false);
  t.strictSame(await find({ feedback: { rating: { equals: false } } }), [id]);
  t.strictSame(await find({ feedback: { created_at: { gte: before } } }), [id]);
  t.strictSame((await api.call(`/v1/request/${id}/feedback/`, { body: { rating: true } })).body, OK);
  t.strictSame(await find({ feedback: { rating: { equals: true } } }), [id]);
  t.strictSame(await find({ feedback: { rating: { equals: false } } }), []);
});

t.test('scores are merged by key, with booleans stored as 1 and 0', async (t) => {
  const id = await insertOne();
  const score = (scores: object) => api.call(`/v1/request/${id}/score`, { body: { scores } });
  t.strictSame((await score({ helpful: true, toxic: false, quality: 0.1, __proto__x: 1 })).body, OK);
  t.strictSame((await score({ quality: 0.30000000000000004, 'other key': -2.5e-8 })).body, OK);
  t.strictSame((await get(id)).scores, {
    helpful: 1,
    toxic: 0,
    quality: 0.30000000000000004,
    __proto__x: 1,
    'other key': -2.5e-8,
  });
  t.strictSame(await find({ scores: { quality: { equals: 0.30000000000000004 } } }), [id]);
  t.strictSame(await find({ scores: { quality: { lt: 0.3 } } }), []);
  t.strictSame(
    (await api.query({ filter: 'all', isScored: true })).map((record) => record.request_id),
    [id],
  );
});

t.test('a property replaces one whose name is equal ignoring case', async (t) => {
  const id = await insertOne({ properties: { Plan: 'free', Team: 'a' } });
  const withPlan = (value: string) => find({ properties: { PLAN: { equals: value } } });
  t.strictSame(await withPlan('free'), [id]);
  t.strictSame((await setProperty(id, 'plan', 'pro')).body, OK);
  t.strictSame(await withPlan('pro'), [id]);
  t.strictSame(await withPlan('free'), []);
  t.strictSame((await setProperty(id, 'PLAN', 'team')).body, OK);
  t.strictSame((await setProperty(id, '__proto__', 'x')).body, OK);
  const record = await get(id);
  t.strictSame(record.request_properties, { Plan: 'free', Team: 'a' });
  t.strictSame(JSON.stringify(record.properties), '{"Team":"a","PLAN":"team","__proto__":"x"}');
  t.strictSame(await withPlan('team'), [id]);
  t.strictSame(await withPlan('pro'), []);
  t.strictSame(await find({ properties: { ['__proto__']: { equals: 'x' } } }), [id]);
  const rows = await api.database
    .sql`select count(*)::int as count from assay.request_properties where request_id = ${id}`;
  t.strictSame(rows[0]?.count, 3, 'the index has one row a property');
});

t.test('a request has at most 100 properties', async (t) => {
  const id = await insertOne({
    properties: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, 'x'])),
  });
  t.equal((await setProperty(id, 'P99', 'y')).status, 200, 'one of them can change');
  const refused = await setProperty(id, 'p100', 'y');
  t.strictSame(
    [refused.status, refused.body.error],
    [400, 'A request can have at most 100 properties, and this one has them'],
  );
});

t.test('a request has at most 1,000 scores', async (t) => {
  const id = await insertOne();
  const set = (from: number, count: number) =>
    api.call(`/v1/request/${id}/score`, {
      body: {
        scores: Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${from + index}`, index])),
      },
    });
  for (let from = 0; from < 1_000; from += 100) t.equal((await set(from, 100)).status, 200);
  const refused = await set(999, 2);
  t.match(
    [refused.status, refused.body.error],
    [400, 'A request can have at most 1000 scores, and would have 1001'],
  );
  t.equal((await set(0, 1)).status, 200, 'one of them can change');
  t.equal(Object.keys((await get(id)).scores as object).length, 1_000);
});

t.test('concurrent changes of one request are all kept', async (t) => {
  const id = await insertOne();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => [
      setProperty(id, `key-${index % 10}`, String(index)),
      api.call(`/v1/request/${id}/score`, {
        body: { scores: { [`s${index}`]: index, [`s${19 - index}`]: index } },
      }),
    ]).flat(),
  );
  t.ok(answers.every(({ status }) => status === 200));
  const record = await get(id);
  t.equal(Object.keys(record.properties as object).length, 10);
  t.equal(Object.keys(record.scores as object).length, 20);
  for (const [key, value] of Object.entries(record.properties as Record<string, string>)) {
    t.strictSame(await find({ properties: { [key]: { equals: value } } }), [id]);
  }
});

t.test(
  'unusual text in properties and scores is stored as far as Postgres can hold it, and found again',
  async (t) => {
    const id = await insertOne();
    t.equal((await setProperty(id, 'naïve "key"', 'a\u0000b 😀')).status, 200);
    t.strictSame(await find({ properties: { 'NAÏVE "KEY"': { equals: 'a\u0000b 😀' } } }), [id]);
    t.equal(
      (await api.call(`/v1/request/${id}/score`, { body: { scores: { 'a\u0000': 1, 'a\ufffd': 2 } } }))
        .status,
      200,
    );
    t.strictSame(await find({ scores: { 'a\u0000': { equals: 2 } } }), [id]);
  },
);

t.test('a change of a request that is not stored yet waits for its record', async (t) => {
  const now = Date.now();
  const hex = now.toString(16).padStart(12, '0');
  const chosen = crypto.randomUUID();
  await api.database.sql`
    insert into assay.claimed_request_ids (organization_id, request_id) values (${api.own.organizationId}, ${chosen})`;
  const IDS = [
    newRequestId(),
    `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`,
    // The ids of a call that took five minutes, and of one whose caller chose an id without a time.
    newRequestId(now - 300_000),
    chosen,
  ];
  for (const request_id of IDS) {
    const answers = Promise.all([
      api.call(`/v1/request/${request_id}/feedback`, { body: { rating: true } }),
      api.call(`/v1/request/${request_id}/score`, { body: { scores: { a: 1 } } }),
      setProperty(request_id, 'plan', 'pro'),
      api.call(`/v1/request/${request_id}`),
    ]);
    await sleep(50);
    await insertOne({ request_id });
    t.strictSame(
      (await answers).map(({ status }) => status),
      [200, 200, 200, 200],
    );
    t.match(await get(request_id), { feedback_rating: true, scores: { a: 1 }, properties: { plan: 'pro' } });
  }
});

t.test(
  'a change of an unknown request is a 404, after a wait for new ids and at once for old ones',
  async (t) => {
    const fetchMs = async (id: string) => {
      const start = performance.now();
      t.equal((await api.call(`/v1/request/${id}/feedback`, { body: { rating: true } })).status, 404);
      return performance.now() - start;
    };
    t.ok((await fetchMs(newRequestId())) >= 1_400);
    // The quickest of some: a busy machine delays any of them.
    const quickestMs = async (id: string) =>
      Math.min(await fetchMs(id), await fetchMs(id), await fetchMs(id), await fetchMs(id));
    t.ok((await quickestMs(newRequestId(Date.now() - 3_600_000))) < 1_000);
    t.ok((await quickestMs('a-name')) < 1_000);
    t.ok((await quickestMs(crypto.randomUUID())) < 1_000);
    const erased = await insertOne({ request_id: newRequestId() });
    await api.call(`/v1/request/${erased}`, { method: 'DELETE' });
    t.ok((await quickestMs(erased)) < 1_000, 'what was erased does not come');
  },
);

t.test('query-ids returns records in the requested order, each once, without unknown ids', async (t) => {
  const ids = [await insertOne(), await insertOne(), await insertOne()];
  const [first, second, third] = ids;
  const answer = await api.call('/v1/request/query-ids/', {
    body: { requestIds: [third, 'unknown', first, first, second, 'a\u0000'] },
  });
  t.strictSame(
    (answer.body.data as { request_id: string }[]).map((record) => record.request_id),
    [third, first, second],
  );
  t.strictSame((await api.call('/v1/request/query-ids', { body: { requestIds: [] } })).body, {
    data: [],
    error: null,
  });
  t.equal((await get(second!)).request_id, second);
  t.equal((await api.call(`/v1/request/${second}/`)).status, 200);
});
