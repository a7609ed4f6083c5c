/** Ratings, scores and properties that are taken back. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startTestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { eraseIn, waitingForLocks } from '../../../support/erase.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

const api = await startTestApi(t);
const { sql } = api.database;

const seed = async (given: Partial<SeedRequest> = {}): Promise<string> => {
  const old = { created_at: new Date(Date.now() - 60_000) };
  const [row] = await insertRequests(sql, api.own.organizationId, [{ ...old, ...given }]);
  return row!.request_id;
};
const takeBack = async (path: string, key = api.own.key) => {
  const { status, body } = await api.call(`/v1/request/${path}`, { method: 'DELETE', key });
  if (status === 200) t.same(body, { data: null, error: null });
  return status;
};
const recordOf = async (id: string) =>
  (await api.call(`/v1/request/${id}`)).body.data as {
    scores: Record<string, number> | null;
    feedback_rating: boolean | null;
    properties: Record<string, string>;
    request_properties: Record<string, string> | null;
  };
const found = async (filter: object) =>
  (await api.query({ filter })).map((record) => record.request_id as string);

t.test('a rating that is taken back is neither shown nor found, and can be given again', async (t) => {
  const id = await seed();
  const rate = (rating: boolean) => api.call(`/v1/request/${id}/feedback`, { body: { rating } });
  await rate(true);
  t.equal((await recordOf(id)).feedback_rating, true);
  t.equal(await takeBack(`${id}/feedback`), 200);
  t.equal((await recordOf(id)).feedback_rating, null);
  const [row] = await sql`select feedback_created_at from assay.requests where request_id = ${id}`;
  t.equal(row!.feedback_created_at, null);
  t.equal(await takeBack(`${id}/feedback`), 200, 'a second time changes nothing');
  await rate(false);
  t.equal((await recordOf(id)).feedback_rating, false);
});

t.test('a score that is taken back goes, whoever set it, and the others stay', async (t) => {
  const odd = 'a/b c%&"?#🦊';
  const id = await seed({ scores: { polite: 0.5, short: 1, [odd]: 3, 'nul \ufffd': 1 } });
  await sql`
    update assay.request_scores set evaluator_id = ${randomUUID()}, evaluator_version = 1
     where request_id = ${id} and key = 'polite'`;
  t.equal(await takeBack(`${id}/score/polite`), 200);
  t.same((await recordOf(id)).scores, { 'a/b c%&"?#🦊': 3, 'nul \ufffd': 1, short: 1 });
  t.equal(await takeBack(`${id}/score/${encodeURIComponent(odd)}`), 200);
  t.equal(await takeBack(`${id}/score/${encodeURIComponent('nul \0')}`), 200);
  t.same((await recordOf(id)).scores, { short: 1 });
  for (const key of ['polite', 'SHORT', 'x'.repeat(8_000)])
    t.equal(await takeBack(`${id}/score/${key}`), 200);
  t.same((await recordOf(id)).scores, { short: 1 }, 'a key that it does not have changes nothing');
});

t.test(
  'a property that is taken back is neither shown nor found, also when it was sent with the request',
  async (t) => {
    const name = `Plan ${randomUUID()}`;
    const byName = { properties: { [name]: { equals: 'pro' } } };
    const id = await seed({ properties: { [name]: 'pro', Team: 'red' } });
    const untouched = await seed({ properties: { [name]: 'pro' } });
    t.equal((await found(byName)).length, 2);
    t.equal(
      await takeBack(`${id}/property/${encodeURIComponent(name.toUpperCase())}`),
      200,
      'whatever its case',
    );
    t.same(await found(byName), [untouched]);
    const record = await recordOf(id);
    t.same([record.properties, record.request_properties], [{ Team: 'red' }, { Team: 'red' }]);
    t.equal(await takeBack(`${id}/property/team`), 200);
    const emptied = await recordOf(id);
    t.same([emptied.properties, emptied.request_properties], [{}, null], 'as if none had been sent');
    const rows = await sql`select 1 from assay.request_properties where request_id = ${id}`;
    t.same(rows.length, 0, 'the index of properties has none of them');
    t.equal(await takeBack(`${id}/property/team`), 200, 'a second time changes nothing');
  },
);

t.test('a property that was set later, in place of one that was sent, is taken back with it', async (t) => {
  const id = await seed({ properties: { Plan: 'free', __proto__x: 'y' } });
  await api.call(`/v1/request/${id}/property`, { method: 'PUT', body: { key: 'plan', value: 'pro' } });
  await api.call(`/v1/request/${id}/property`, { method: 'PUT', body: { key: '__proto__', value: 'z' } });
  t.equal(await takeBack(`${id}/property/PLAN`), 200);
  t.equal(await takeBack(`${id}/property/__proto__`), 200);
  t.same((await recordOf(id)).properties, { __proto__x: 'y' });
  const put = await api.call(`/v1/request/${id}/property`, {
    method: 'PUT',
    body: { key: 'Plan', value: 'free' },
  });
  t.equal(put.status, 200);
  t.same((await recordOf(id)).properties, { __proto__x: 'y', Plan: 'free' }, 'it can be set again');
});

t.test('only an unknown request is a 404: made up, of another organization, or erased', async (t) => {
  const id = await seed({ scores: { a: 1 }, properties: { a: 'b' } });
  const before = await recordOf(id);
  for (const what of ['feedback', 'score/a', 'property/a']) {
    t.equal(await takeBack(`${id}/${what}`, api.other.key), 404, what);
    t.equal(await takeBack(`${randomUUID()}/${what}`), 404, what);
  }
  t.same(await recordOf(id), before);
  const reader = await api.own.keyWith(['read']);
  t.equal(await takeBack(`${id}/feedback`, reader), 403);
});

t.test('null is no rating and no score: taking back has one form', async (t) => {
  const id = await seed();
  t.equal((await api.call(`/v1/request/${id}/feedback`, { body: { rating: null } })).status, 400);
  t.equal((await api.call(`/v1/request/${id}/score`, { body: { scores: { a: null } } })).status, 400);
});

t.test('a path that is not percent-encoded UTF-8 is a 400', async (t) => {
  const id = await seed({ scores: { a: 1 } });
  for (const key of ['%zz', '%ff', '%']) {
    t.equal(await takeBack(`${id}/score/${key}`), 400, key);
  }
});

t.test('writers that take back and set the same things at once all succeed', async (t) => {
  const id = await seed({ scores: { a: 1 }, properties: { a: 'b' } });
  const set = (value: string) =>
    api
      .call(`/v1/request/${id}/property`, { method: 'PUT', body: { key: 'a', value } })
      .then(({ status }) => status);
  const statuses = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? set(`v${index}`) : takeBack(`${id}/property/A`),
    ),
  );
  t.same(new Set(statuses), new Set([200]));
  const [row] = await sql`
    select properties_folded ->> 'a' as value,
      (select count(*)::int from assay.request_properties p where p.request_id = r.request_id) as indexed
    from assay.requests r where request_id = ${id}`;
  t.equal(row!.indexed, row!.value === null ? 0 : 1, 'index and row agree');
});

t.test('a score that is set while its request is being erased does not stay behind', async (t) => {
  const id = await seed();
  const erasing = await openTransaction(sql, (tx) => eraseIn(tx, api.own.organizationId, [id]));
  const setting = api.call(`/v1/request/${id}/score`, { body: { scores: { a: 1 } } });
  await waitFor('the writer to wait', async () => (await waitingForLocks(sql)) > 0);
  await erasing.end();
  t.equal((await setting).status, 404);
  t.same(await sql`select 1 from assay.request_scores where request_id = ${id}`, []);
});
