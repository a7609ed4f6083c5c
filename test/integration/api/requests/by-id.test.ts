/** Requests that are looked up by their ids, in one week of the log or in all. */
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestApi } from '../../../support/api.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const WEEK_MS = 7 * 86_400_000;

const api = await startTestApi(t);
const { sql } = api.database;

/** A request of so many weeks ago, with an id that tells another time. */
async function seed(weeksAgo: number, requestId: string): Promise<string> {
  const created_at = new Date(Date.now() - weeksAgo * WEEK_MS);
  await insertRequests(sql, api.own.organizationId, [{ request_id: requestId, created_at }]);
  return requestId;
}

const aWeekOld = () => newRequestId(Date.now() - WEEK_MS);

async function criterion(): Promise<string> {
  const made = await api.call('/v1/criterion', { body: { name: 'polite', kind: { type: 'boolean' } } });
  return (made.body.data as { id: string }).id;
}

t.test('what is done with a request by its id waits for nothing in other weeks', async (t) => {
  const [id, far] = [await seed(1, aWeekOld()), await seed(40, newRequestId(Date.now() - 40 * WEEK_MS))];
  const criterionId = await criterion();
  const [partition] = await sql<{ name: string }[]>`
    select tableoid::regclass::text as name from assay.requests where request_id = ${far}`;
  const held = await openTransaction(sql, (tx) =>
    tx.unsafe(`lock table ${partition!.name} in access exclusive mode`),
  );
  t.teardown(() => held.end());
  const steps: [path: string, init?: object][] = [
    [''],
    ['/delivery'],
    ['/score', { body: { scores: { polite: 1 } } }],
    ['/score/polite', { method: 'DELETE' }],
    ['/feedback', { body: { rating: true } }],
    ['/feedback', { method: 'DELETE' }],
    ['/property', { method: 'PUT', body: { key: 'plan', value: 'free' } }],
    ['/property/plan', { method: 'DELETE' }],
    ['/grade', { method: 'PUT', body: { criterionId, value: true } }],
    ['/grades'],
  ];
  for (const [path, init] of steps) {
    const answer = await api.call(`/v1/request/${id}${path}`, init ?? {});
    t.equal(answer.status, 200, `${path} ${answer.text.slice(0, 200)}`);
  }
});

t.test('a request is found wherever it is stored, whatever its id tells', async (t) => {
  const ids = [
    await seed(1, aWeekOld()),
    await seed(30, aWeekOld()),
    await seed(2, '018bcfe5-6800-7000-8000-000000000001'), // version 7, of 2023
    await seed(3, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'), // of the year 10889
    await seed(4, '00000000000000000000000000'), // of 1970
    await seed(5, '8d3f8f4c-25d4-4b62-9d0f-43a8d1c7a001'), // tells no time
  ];
  for (const id of ids) {
    t.equal((await api.call(`/v1/request/${id}`)).status, 200, id);
    t.equal((await api.call(`/v1/request/${id}/score`, { body: { scores: { polite: 1 } } })).status, 200, id);
  }
  const rows = await api.call('/v1/request/query-ids', { body: { requestIds: ids.toReversed() } });
  t.same(
    (rows.body.data as { request_id: string }[]).map(({ request_id }) => request_id),
    ids.toReversed(),
    'many at once, in their order',
  );
  t.equal((await api.call(`/v1/request/${aWeekOld()}`)).status, 404);
});
