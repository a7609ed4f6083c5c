/** Organizations that share an API, where one of them has queries that take long. */
import t, { type Test } from 'tap';
import { startTestApi } from '../../support/api.ts';
import { waitFor } from '../../support/assay.ts';

/** More than the API has connections. */
const MANY = 24;
/** Connections of one organization. */
const OF_ONE = 5;

/** An API of two organizations: `hang` begins calls of the first that wait until `letGo`. */
async function setUp(t: Test) {
  const api = await startTestApi(t);
  const { sql } = api.database;
  const { body } = await api.call('/v1/dataset', { body: { name: 'items' } });
  const { id } = body.data as { id: string };
  // An erasure of the organization holds this lock, and whoever adds items waits for it.
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(assay.long_erasure_lock(${api.own.organizationId}))`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const letGo = async () => {
    released.resolve();
    await holding;
  };
  t.teardown(letGo);
  let settled = 0;
  const hang = () => {
    const items = [
      { request: { model: 'gpt-4o', messages: [{ role: 'user', content: crypto.randomUUID() }] } },
    ];
    const answer = api.call(`/v1/dataset/${id}/items`, { body: { items } });
    void answer
      .catch(() => {})
      .then(() => {
        settled += 1;
      });
    return answer;
  };
  const waiting = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int4 as count from pg_stat_activity
       where datname = current_database() and application_name = 'assay-api' and wait_event_type = 'Lock'`;
    return row!.count;
  };
  return { api, hang, letGo, waiting, settled: () => settled };
}

t.test('slow queries of one organization keep neither another nor the health check waiting', async (t) => {
  const { api, hang, letGo, waiting, settled } = await setUp(t);
  const slow = Array.from({ length: MANY }, hang);
  await waitFor('its queries to have all their connections', async () => (await waiting()) === OF_ONE);
  const { key } = api.other;
  const others = await Promise.all(
    Array.from({ length: MANY }, () => api.call('/v1/request/query', { key, body: { filter: 'all' } })),
  );
  t.same(new Set(others.map(({ status }) => status)), new Set([200]));
  t.equal((await fetch(`${api.url}/readyz`)).status, 200);
  t.equal(settled(), 0, 'the slow ones are still under way');
  t.equal(await waiting(), OF_ONE);
  const metrics = await (await fetch(`${api.url}/metrics`)).text();
  t.match(metrics, `assay_api_queries_running{role="api"} ${OF_ONE}\n`);
  t.match(metrics, `assay_api_queries_waiting{role="api"} ${MANY - OF_ONE}\n`);
  await letGo();
  const answers = await Promise.all(slow);
  t.same(
    new Set(answers.map(({ status }) => status)),
    new Set([200]),
    'those that waited were answered, too',
  );
});
