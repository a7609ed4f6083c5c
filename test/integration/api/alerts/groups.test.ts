/** Alerts with a grouping, over requests in the database: what is measured of the groups that an alert tracks. */
import t from 'tap';
import type { AlertBody, AlertHistoryPage, AlertJson } from '#core/contracts/alert.ts';
import { startTestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { BODY, MINUTE_MS } from './alert-world.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const own = api.own.organizationId;
t.afterEach(async () => {
  await sql`delete from assay.alerts`;
  await sql`delete from assay.requests`;
});

const COUNT_BY_USER: AlertBody = {
  ...BODY,
  query: { measures: [{ metric: 'requests', aggregate: 'count' }], groupBy: ['user'] },
};

const users = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `user-${from + index}`);

/** Stores requests of the last full minutes, `each` of every user. */
const store = (names: readonly string[], each: number) =>
  insertRequests(
    sql,
    own,
    names.flatMap((user_id) =>
      Array.from({ length: each }, () => ({ user_id, created_at: new Date(Date.now() - 2 * MINUTE_MS) })),
    ),
  );

async function answerOf<Data>(path: string, body?: object, method?: string): Promise<Data> {
  const answer = await api.call(path, { ...(body && { body }), ...(method && { method }) });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as Data;
}

/** Waits until an alert is evaluated after its last change. */
async function evaluated(id: string): Promise<AlertJson> {
  for (;;) {
    const [row] = await sql<{ isDue: boolean }[]>`
      select due_at <= now() or leased_until is not null as "isDue" from assay.alert_runs where alert_id = ${id}`;
    if (row?.isDue === false) return await answerOf<AlertJson>(`/v1/alert/${id}`);
  }
}

async function create(body: Partial<AlertBody>): Promise<AlertJson> {
  const { id } = await answerOf<AlertJson>('/v1/alert', { ...COUNT_BY_USER, ...body });
  return await evaluated(id);
}

/** Evaluates an alert again: each change makes it due at once, and one of its name keeps its states. */
async function evaluateAgain({ id }: AlertJson): Promise<AlertJson> {
  await answerOf(`/v1/alert/${id}`, { name: 'Renamed' }, 'PATCH');
  return await evaluated(id);
}

const eventsOf = async ({ id }: AlertJson) =>
  (await answerOf<AlertHistoryPage>(`/v1/alert/${id}/history`)).entries.map(
    ({ event, group, value }) => `${group.user} ${event} at ${value}`,
  );

t.test('a group that others have overtaken goes on firing while it is beyond the threshold', async (t) => {
  await store(users(0, 100), 2);
  const alert = await create({ threshold: 1 });
  t.equal(alert.firing.length, 100);
  await store(users(100, 130), 5);
  const { firing, skipped_groups } = await evaluateAgain(alert);
  t.same([firing.length, skipped_groups], [100, 30]);
  t.same(
    (await eventsOf(alert)).filter((event) => !event.endsWith('fired at 2')),
    [],
  );
});

t.test('a group that others have overtaken is no missing data', async (t) => {
  await store(users(0, 100), 2);
  const alert = await create({ threshold: 1_000, no_data: 'alert' });
  await store(users(100, 130), 5);
  t.equal((await evaluateAgain(alert)).state, 'ok');
});

t.test('a group without requests any more has a number of requests, 0, and no average', async (t) => {
  await store(['ann', 'bob'], 1);
  const few = await create({ comparison: '<', threshold: 2 });
  const slow = await create({
    threshold: -1,
    query: { measures: [{ metric: 'errors', aggregate: 'avg' }], groupBy: ['user'] },
  });
  t.equal(few.firing.length, 2);
  await sql`delete from assay.requests where user_id = 'bob'`;
  t.same(
    (await evaluateAgain(few)).firing.map(({ group, value }) => [group.user, value]),
    [
      ['ann', 1],
      ['bob', 0],
    ],
  );
  await evaluateAgain(slow);
  t.equal((await eventsOf(slow))[0], 'bob resolved at null');
});
