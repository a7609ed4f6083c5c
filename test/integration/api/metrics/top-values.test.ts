/** Groups that are found by each day's lists of values equal those of the rows. */
import t from 'tap';
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from '../../../../api/metrics/run.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { seededRandom } from '../../../support/random.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

const DAY_MS = 86_400_000;
const FROM = Date.UTC(2026, 2, 2);
const DAYS = 4;
/** More than are read of a list. */
const VALUES = 260;

const random = seededRandom(29);
const someTime = (day: number) => new Date(FROM + day * DAY_MS + Math.floor(random() * DAY_MS));

/**
 * Few users with many requests, many with few; a user whose requests are of one day; a property whose values are all nearly
 * equally frequent; one whose first value is among the first of no source.
 */
function requests(): Partial<SeedRequest>[] {
  const of = (day: number, user_id: string | null, index: number): Partial<SeedRequest> => ({
    created_at: someTime(day),
    user_id,
    source: index % 3 === 0 ? 'api' : 'gateway',
    cost_nano: Math.floor(random() * 1e9),
    status: random() < 0.1 ? 500 : 200,
  });
  const days = Array.from({ length: DAYS }, (_, day) => {
    const rows = Array.from({ length: VALUES }, (_, user) =>
      Array.from({ length: Math.max(1, Math.floor(40 / (user + 1))) }, (_, index) =>
        of(day, `user ${user}`, index),
      ),
    );
    const none = Array.from({ length: 25 }, (_, index) => of(day, null, index));
    return [...rows.flat(), ...none];
  });
  const once = Array.from({ length: 90 }, (_, index) => of(2, 'once', index));
  const split = (value: string, source: string, count: number) =>
    Array.from({ length: count }, () => ({ ...of(1, 'split', 0), source, properties: { Split: value } }));
  const splits = Array.from({ length: 60 }, (_, index) => [
    ...split(`gateway ${index}`, 'gateway', 6),
    ...split(`api ${index}`, 'api', 6),
  ]);
  const both = [...split('second in both lists', 'gateway', 5), ...split('second in both lists', 'api', 5)];
  return [...days.flat(), ...once, ...splits.flat(), ...both].map((row, index) => ({
    ...row,
    request_id: `request-${index}`,
    properties: {
      ...row.properties,
      Even: `value ${index % VALUES}`,
      ...(row.user_id == null ? {} : { Uneven: row.user_id }),
    },
  }));
}

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  const { sql } = api.database;
  await insertRequests(sql, api.own.organizationId, requests());
  await registerRollups(sql);
  await applyAllChanges(sql);
  await recomputeAll(sql);
});

const topUsers: MetricsQueryBody = {
  measures: [
    { metric: 'requests', aggregate: 'count' },
    { metric: 'cost', aggregate: 'sum' },
  ],
  groupBy: ['user'],
  range: { from: FROM, to: FROM + DAYS * DAY_MS },
  bucket: 'none',
  limit: 3,
};

function ask(body: MetricsQueryBody, engine: 'any' | 'rows' = 'any'): Promise<MetricsAnswer> {
  const { own, database } = api;
  const run = (tx: Parameters<typeof runMetricsQuery>[0]) =>
    runMetricsQuery(tx, own.organizationId, body, engine);
  return inOrganization(database.sql, own.organizationId, run, { isSnapshot: true });
}

const shown = ({ series, other, total }: MetricsAnswer) => ({ series, other, total });

const HOUR_MS = 3_600_000;
const QUERIES: Record<string, Partial<MetricsQueryBody>> = {
  'whole days': {},
  'more groups': { limit: 20 },
  'by day': { bucket: 'day' },
  'by day, and the days before': {
    bucket: 'day',
    range: { from: FROM + 2 * DAY_MS, to: FROM + DAYS * DAY_MS },
    compareWith: 'previous',
  },
  'a range that begins and ends within days': {
    range: { from: FROM + 5 * HOUR_MS + 1, to: FROM + 3 * DAY_MS + 7 * HOUR_MS + 77 },
  },
  'a range that begins late on a day': { range: { from: FROM + 21 * HOUR_MS, to: FROM + 3 * DAY_MS } },
  'one source': { sources: ['api'] },
  'no source that has requests': { sources: ['playground'] },
  'every value equally frequent': { groupBy: ['property:Even'], range: { from: FROM, to: FROM + DAY_MS } },
  'a value that is the first of all, and of no list': {
    groupBy: ['property:split'],
    range: { from: FROM + DAY_MS, to: FROM + 2 * DAY_MS },
    limit: 2,
  },
  'a property': { groupBy: ['property:uneven'], limit: 2 },
  'the least first': { orderBy: { direction: 'asc' } },
  'by another measure': { orderBy: { measure: 1 } },
};

for (const [title, changes] of Object.entries(QUERIES)) {
  t.test(`the first values of users and properties equal those of the rows: ${title}`, async (t) => {
    const body = { ...topUsers, ...changes };
    const found = await ask(body);
    if (title !== 'no source that has requests') t.equal(found.source, 'rollup');
    t.same(shown(found), shown(await ask(body, 'rows')));
  });
}

t.test('requests without a user are all requests less the sum of users that each day has', async (t) => {
  const { sql } = api.database;
  const withoutUser = ({ series }: MetricsAnswer) =>
    series.find(({ group }) => group.user === null)?.total[0];
  const exact = await ask(topUsers);
  t.equal(withoutUser(exact), 25 * DAYS);
  await sql`update assay.rollup_values set requests = requests - 10
             where dimension = 'user_sum' and source = 'api' and begins_at = ${new Date(FROM)}`;
  t.equal(withoutUser(await ask(topUsers)), 25 * DAYS + 10);
  await sql`delete from assay.rollup_values where dimension = 'user_sum' and begins_at = ${new Date(FROM)}`;
  t.same(shown(await ask(topUsers)), shown(exact), 'without the sum of a day, all values are added up');
});
