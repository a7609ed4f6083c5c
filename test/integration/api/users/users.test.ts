import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const QUERY = '/v1/user/query';
const METRICS = '/v1/user/metrics/query';
const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 4, 4, 12);
const seconds = (ms: number) => ms / 1_000;

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  const { own, other, database } = api;
  const at = (ms: number) => new Date(NOON + ms);
  await insertRequests(database.sql, own.organizationId, [
    { user_id: 'ann', created_at: at(0), prompt_tokens: 10, completion_tokens: 5, cost_nano: 1_000_000_001 },
    {
      user_id: 'ann',
      created_at: at(1),
      prompt_tokens: 20,
      completion_tokens: 1,
      cost_nano: 500_000_000,
      status: 500,
    },
    { user_id: 'ann', created_at: at(2 * DAY_MS), prompt_tokens: null, completion_tokens: null },
    {
      user_id: 'bob',
      created_at: at(DAY_MS + 5),
      prompt_tokens: 7,
      completion_tokens: 0,
      cost_nano: 2_000_000_000,
    },
    { user_id: '😀 zoë', created_at: at(3 * DAY_MS), total_tokens: 9 },
    { user_id: 'ann', created_at: at(0), source: 'evaluator', cost_nano: 9 },
    { user_id: null, created_at: at(0), cost_nano: 9 },
  ]);
  await insertRequests(database.sql, other.organizationId, [
    { user_id: 'ann', created_at: at(0), cost_nano: 7 },
  ]);
});

const ANN = {
  user_id: 'ann',
  active_for: 2,
  first_active: '2026-05-04T12:00:00.000Z',
  last_active: '2026-05-06T12:00:00.000Z',
  total_requests: 3,
  average_requests_per_day_active: 1.5,
  average_tokens_per_request: 12,
  total_completion_tokens: 6,
  total_prompt_tokens: 30,
  cost: 1.500000001,
};
const BOB = {
  user_id: 'bob',
  active_for: 1,
  first_active: '2026-05-05T12:00:00.005Z',
  last_active: '2026-05-05T12:00:00.005Z',
  total_requests: 1,
  average_requests_per_day_active: 1,
  average_tokens_per_request: 7,
  total_completion_tokens: 0,
  total_prompt_tokens: 7,
  cost: 2,
};

async function data<Data>(path: string, body: object, key?: string): Promise<Data> {
  const answer = await api.call(path, { body, ...(key === undefined ? {} : { key }) });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as Data;
}

type Page = { users: { user_id: string }[]; count: number; hasUsers: boolean };
const metrics = (body: object, key?: string) => data<Page>(METRICS, body, key);
const idsOf = ({ users }: Page) => users.map((user) => user.user_id);

t.test('a query for users sums up their requests, those with the most first', async (t) => {
  t.strictSame(await data(QUERY, {}), [
    { user_id: 'ann', count: 3, prompt_tokens: 30, completion_tokens: 6, cost: 1.500000001 },
    { user_id: 'bob', count: 1, prompt_tokens: 7, completion_tokens: 0, cost: 2 },
    { user_id: '😀 zoë', count: 1, prompt_tokens: 0, completion_tokens: 0, cost: null },
  ]);
});

t.test('a query for users takes ids, a time span and pages', async (t) => {
  const ids = async (body: object) =>
    (await data<{ user_id: string }[]>(QUERY, body)).map((user) => user.user_id);
  t.strictSame(await ids({ userIds: ['bob', '😀 zoë', 'nobody', 'a\0\ud800'] }), ['bob', '😀 zoë']);
  t.strictSame(await ids({ limit: 1, offset: 1 }), ['bob']);
  const timeFilter = {
    startTimeUnixSeconds: seconds(NOON),
    endTimeUnixSeconds: seconds(NOON + 2 * DAY_MS),
  };
  t.strictSame(
    await data(QUERY, { timeFilter, userIds: ['ann'] }),
    [{ user_id: 'ann', count: 2, prompt_tokens: 30, completion_tokens: 6, cost: 1.500000001 }],
    'the start is in the span, the end is not',
  );
  const fraction = { startTimeUnixSeconds: seconds(NOON + 1), endTimeUnixSeconds: seconds(NOON + 2) };
  t.match(await data(QUERY, { timeFilter: fraction }), [{ user_id: 'ann', count: 1 }], 'a millisecond');
});

t.test('metrics of users have their days, times, averages and sums, the latest active first', async (t) => {
  const page = await metrics({});
  t.strictSame(idsOf(page), ['😀 zoë', 'ann', 'bob']);
  t.strictSame(page.users.slice(1), [ANN, BOB]);
  t.strictSame(Object.keys(page.users[0]!), Object.keys(ANN));
  t.match(page.users[0], { cost: null }, 'of a user without a known price');
  t.match(page, { count: 3, hasUsers: true });
});

t.test('metrics of users are sorted by any of their fields, ties by id', async (t) => {
  t.strictSame(idsOf(await metrics({ sort: { user_id: 'asc' } })), ['ann', 'bob', '😀 zoë']);
  t.strictSame(idsOf(await metrics({ sort: { cost: 'desc' } })), ['bob', 'ann', '😀 zoë']);
  t.strictSame(idsOf(await metrics({ sort: { cost: 'asc' } })), ['ann', 'bob', '😀 zoë'], 'unknown last');
  t.strictSame(idsOf(await metrics({ sort: { active_for: 'asc' } })), ['bob', '😀 zoë', 'ann']);
  t.strictSame(idsOf(await metrics({ sort: { first_active: 'asc' } })), ['ann', 'bob', '😀 zoë']);
  for (const metric of Object.keys(ANN)) {
    t.equal((await metrics({ sort: { [metric]: 'desc' } })).count, 3, metric);
  }
});

t.test('metrics of users are of the requests that pass the filter and are in the time span', async (t) => {
  const failed = await metrics({ filter: { response: { status: { equals: 500 } } } });
  t.match(failed, { users: [{ user_id: 'ann', total_requests: 1, active_for: 1 }], count: 1 });
  const timeFilter = {
    startTimeUnixSeconds: seconds(NOON + DAY_MS),
    endTimeUnixSeconds: seconds(NOON + 2 * DAY_MS + 1),
  };
  t.strictSame(idsOf(await metrics({ timeFilter })), ['ann', 'bob']);
});

t.test('a page of metrics behind the last one still counts all users', async (t) => {
  t.match(await metrics({ limit: 1, offset: 1 }), { users: [{ user_id: 'ann' }], count: 3 });
  t.strictSame(await metrics({ offset: 99 }), { users: [], count: 3, hasUsers: true });
});

t.test('the days of metrics begin at the midnight of the time zone', async (t) => {
  const { sql } = api.database;
  const { organizationId, key } = api.other;
  // 23:30 and 00:10 in UTC: twenty minutes to the east they are two days still, to the west they are one.
  const midnight = Date.UTC(2026, 4, 9);
  await insertRequests(sql, organizationId, [
    { user_id: 'eve', created_at: new Date(midnight - 1_800_000) },
    { user_id: 'eve', created_at: new Date(midnight + 600_000) },
  ]);
  const activeFor = async (body: object) => {
    const page = await metrics({ ...body, filter: { request: { user_id: { equals: 'eve' } } } }, key);
    return (page.users[0] as unknown as { active_for: number }).active_for;
  };
  t.equal(await activeFor({}), 2);
  t.equal(await activeFor({ timeZoneDifferenceMinutes: -20 }), 2);
  t.equal(await activeFor({ timeZoneDifferenceMinutes: 20 }), 1);
  t.equal(await activeFor({ timeZoneDifferenceMinutes: -840 }), 1);
});

t.test('a user whose requests have no tokens costs nothing, as in metrics', async (t) => {
  const { organizationId, key } = api.other;
  const created_at = new Date(NOON);
  await insertRequests(api.database.sql, organizationId, [{ user_id: 'failed', created_at, status: 500 }]);
  const filter = { request: { user_id: { equals: 'failed' } } };
  t.match(await data(QUERY, { userIds: ['failed'] }, key), [{ cost: 0 }]);
  t.match((await metrics({ filter }, key)).users, [{ cost: 0 }]);
  await insertRequests(api.database.sql, organizationId, [
    { user_id: 'failed', created_at, total_tokens: 9 },
  ]);
  t.match(await data(QUERY, { userIds: ['failed'] }, key), [{ cost: null }], 'tokens without a price');
  t.match((await metrics({ filter }, key)).users, [{ cost: null }]);
});

t.test('users are those of the own organization', async (t) => {
  const [ann] = await data<object[]>(QUERY, { userIds: ['ann'] }, api.other.key);
  t.match(ann, { count: 1, cost: 7e-9 });
  const { keyWith } = api.own;
  const gateway = await keyWith(['gateway']);
  for (const path of [QUERY, METRICS]) {
    t.equal((await api.call(path, { key: gateway, body: {} })).status, 403);
    t.equal((await api.call(path, { key: null, body: {} })).status, 401);
  }
});

t.test('a bad body is a 400 that names its field', async (t) => {
  const span = { startTimeUnixSeconds: 0, endTimeUnixSeconds: 1 };
  const cases: [path: string, body: object, error: RegExp][] = [
    [QUERY, { userIds: 'ann' }, /^userIds must be an array/],
    [QUERY, { userIds: [] }, /^userIds must hold at least 1/],
    [QUERY, { userIds: Array(1_001).fill('a') }, /^userIds must hold at most 1000 items/],
    [QUERY, { userIds: [1] }, /^userIds\.0 must be a string/],
    [QUERY, { filter: 'all' }, /^filter is not a known field/],
    [QUERY, { timeFilter: {} }, /^timeFilter\.startTimeUnixSeconds is required/],
    [
      QUERY,
      { timeFilter: { ...span, startTimeUnixSeconds: -1 } },
      /^timeFilter\.startTimeUnixSeconds must be at least 0/,
    ],
    [
      QUERY,
      { timeFilter: { ...span, endTimeUnixSeconds: NOON } },
      /^timeFilter\.endTimeUnixSeconds must be at most 253402300799/,
    ],
    [
      QUERY,
      { timeFilter: { ...span, startTimeUnixSeconds: 2 } },
      /^timeFilter\.endTimeUnixSeconds must be at least timeFilter\.startTimeUnixSeconds, which is 2/,
    ],
    [METRICS, { limit: 1_001 }, /^limit must be at most 1000/],
    [METRICS, { limit: 0 }, /^limit must be at least 1/],
    [METRICS, { offset: -1 }, /^offset must be at least 0/],
    [METRICS, { sort: {} }, /^sort must hold exactly one field of user_id, active_for/],
    [METRICS, { sort: { cost: 'up' } }, /^sort\.cost must be one of "asc", "desc"/],
    [METRICS, { sort: { name: 'asc' } }, /^sort\.name is not a known field/],
    [METRICS, { timeZoneDifferenceMinutes: 841 }, /^timeZoneDifferenceMinutes must be at most 840/],
    [METRICS, { filter: { users_view: { user_cost: { gt: 1 } } } }, /^filter\.users_view is not a section/],
  ];
  for (const [path, body, error] of cases) {
    const answer = await api.call(path, { body });
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 100));
    t.match(answer.body.error, error);
  }
});
