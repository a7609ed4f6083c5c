/** `/v1/session/query` and its kin, against the same totals made in plain JavaScript. */
import t from 'tap';
import type { SessionMetrics, SessionRow } from '#core/contracts/session.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { seededRandom } from '../../../support/random.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Wednesday, 12 days ago at most, so that all partitions are of the past. */
const START = Math.floor((Date.now() - 12 * DAY_MS) / DAY_MS) * DAY_MS;

let api: TestApi;
let rows: SeedRequest[];

/** Sessions of a minute, of an hour and of days, one of them with two names at a time, and requests without any. */
function madeUp(): Partial<SeedRequest>[] {
  const random = seededRandom(11);
  const whole = (below: number) => Math.floor(random() * below);
  return Array.from({ length: 400 }, (_, index) => {
    const session = whole(60);
    const spread = [60_000, HOUR_MS, 5 * HOUR_MS, 6 * DAY_MS][session % 4]!;
    const startMs = START + ((session * 7_919) % 80) * HOUR_MS;
    const isKnown = random() < 0.8;
    return {
      request_id: `request-${index}`,
      created_at: new Date(startMs + whole(spread)),
      session_id: random() < 0.1 ? null : `session ${session}`,
      session_name: random() < 0.3 ? null : `name ${(session + whole(2)) % 9}`,
      source: random() < 0.05 ? 'evaluator' : 'gateway',
      user_id: `user-${whole(4)}`,
      latency_ms: isKnown ? whole(2_000) : null,
      prompt_tokens: isKnown ? whole(100) : null,
      completion_tokens: isKnown ? whole(100) : null,
      total_tokens: isKnown ? whole(200) : null,
      cost_nano: session % 5 === 0 || !isKnown ? null : whole(5_000_000),
    };
  });
}

t.before(async () => {
  api = await startTestApi(t);
  rows = await insertRequests(api.database.sql, api.own.organizationId, madeUp());
  await insertRequests(api.database.sql, api.other.organizationId, [
    { session_id: 'session 1', session_name: 'foreign', created_at: new Date(START), cost_nano: 7 },
  ]);
});

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await api.call(`/v1/session/${path}`, { body });
  t.equal(answer.status, 200, answer.body.error ?? '');
  return answer.body.data as T;
}

type Asked = { fromMs?: number; toMs?: number; user?: string; keep?: (of: SeedRequest[]) => boolean };

const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
const inOrder = (one: SeedRequest, other: SeedRequest) =>
  one.created_at.getTime() - other.created_at.getTime() ||
  ((one.session_name ?? '') < (other.session_name ?? '') ? -1 : 1);

/** The rows that the contract promises; `keep` looks at all requests of a session. */
function expected({ fromMs = 0, toMs = Infinity, user, keep = () => true }: Asked): SessionRow[] {
  const counted = rows.filter((row) => row.session_id !== null && row.source !== 'evaluator');
  const sessions = [...Map.groupBy(counted, (row) => row.session_id!)].flatMap(([session_id, all]) => {
    const at = (row: SeedRequest) => row.created_at.getTime();
    const own = all.filter(
      (row) => at(row) >= fromMs && at(row) < toMs && (user === undefined || row.user_id === user),
    );
    if (own.length === 0 || !keep(all)) return [];
    const times = own.map(at).sort((one, other) => one - other);
    const known = <Name extends 'cost_nano' | 'latency_ms'>(name: Name) =>
      own.flatMap((row) => row[name] ?? []);
    return {
      session_id,
      session_name: all.toSorted(inOrder).findLast((row) => row.session_name !== null)?.session_name ?? null,
      created_at: new Date(times[0]!).toISOString(),
      latest_request_created_at: new Date(times.at(-1)!).toISOString(),
      total_requests: own.length,
      total_cost: known('cost_nano').length === 0 ? null : sum(known('cost_nano')) / 1e9,
      prompt_tokens: sum(own.map((row) => row.prompt_tokens)),
      completion_tokens: sum(own.map((row) => row.completion_tokens)),
      total_tokens: sum(own.map((row) => row.total_tokens)),
      avg_latency:
        known('latency_ms').length === 0 ? null : sum(known('latency_ms')) / known('latency_ms').length,
      feedback_rating: null,
      tag: null,
      scores: {},
    };
  });
  const key = (row: SessionRow) => `${row.created_at} ${row.session_id}`;
  return sessions.sort((one, other) => (key(one) > key(other) ? -1 : 1));
}

const timeFilter = (fromMs: number, toMs: number) => ({ startTimeUnixMs: fromMs, endTimeUnixMs: toMs });

t.test('without a time, every session comes once, with the totals of all its requests', async (t) => {
  t.same(await post('query', { limit: 1_000 }), expected({}));
  t.ok(expected({}).length > 50, 'there are enough of them');
});

t.test('totals are of the requests inside the time, whatever part of a session that is', async (t) => {
  const random = seededRandom(5);
  for (let round = 0; round < 25; round += 1) {
    const fromMs = START + Math.floor(random() * 8 * DAY_MS);
    const toMs = fromMs + Math.floor(random() * [HOUR_MS, DAY_MS, 9 * DAY_MS][round % 3]!);
    const body = { timeFilter: timeFilter(fromMs, toMs), limit: 1_000, timezoneDifference: 300 };
    t.same(await post('query', body), expected({ fromMs, toMs }), `from ${fromMs} to ${toMs}`);
  }
});

t.test('the start of the time is inside, its end is not', async (t) => {
  const one = rows.find((row) => row.session_id !== null && row.source === 'gateway')!;
  const at = one.created_at.getTime();
  const found = (fromMs: number, toMs: number) =>
    post<SessionRow[]>('query', { timeFilter: timeFilter(fromMs, toMs) });
  t.same(
    (await found(at, at + 1)).map((row) => row.session_id),
    [one.session_id],
  );
  t.same(await found(at - 1, at), []);
  t.same(await found(at, at), []);
});

t.test('a filter counts only the requests that pass it', async (t) => {
  const filter = { request: { user_id: { equals: 'user-2' } } };
  const [fromMs, toMs] = [START + DAY_MS, START + 4 * DAY_MS];
  const body = { filter, timeFilter: timeFilter(fromMs, toMs), limit: 1_000 };
  t.same(await post('query', body), expected({ fromMs, toMs, user: 'user-2' }));
  const both = { left: 'all', operator: 'and', right: {} };
  t.same(await post('query', { filter: both, limit: 1_000 }), expected({}), 'filters that all pass are none');
});

t.test('pages neither overlap nor skip, and go on until there is nothing left', async (t) => {
  const bodies = [
    {},
    { timeFilter: timeFilter(START + DAY_MS, START + 5 * DAY_MS) },
    { filter: { response: { status: { gte: 0 } } } },
  ];
  for (const body of bodies) {
    const whole = await post<SessionRow[]>('query', { ...body, limit: 1_000 });
    const paged: SessionRow[] = [];
    for (let offset = 0; offset < whole.length + 7; offset += 7) {
      paged.push(...(await post<SessionRow[]>('query', { ...body, offset, limit: 7 })));
    }
    t.same(paged, whole);
  }
});

t.test(
  'nameEquals and search find a session by any name it has had, with the totals of all its requests',
  async (t) => {
    const named = (test: (name: string) => boolean) => (all: SeedRequest[]) =>
      all.some((row) => row.session_name !== null && test(row.session_name));
    const filter = { response: { status: { gte: 0 } } };
    for (const more of [{ limit: 1_000 }, { limit: 1_000, filter }]) {
      t.same(
        await post('query', { nameEquals: 'name 3', ...more }),
        expected({ keep: named((name) => name === 'name 3') }),
      );
      t.same(await post('query', { nameEquals: 'NAME 3', ...more }), [], 'a name is compared as it is');
      t.same(
        await post('query', { search: 'AME 3', ...more }),
        expected({ keep: named((name) => name.includes('ame 3')) }),
      );
      t.same(
        (await post<SessionRow[]>('query', { search: 'session 7', ...more })).map((row) => row.session_id),
        ['session 7'],
      );
      t.same(await post('query', { search: 'session_7', ...more }), [], 'patterns mean themselves');
      t.same(await post('query', { search: '', ...more }), expected({}), 'an empty search is none');
    }
  },
);

t.test('names are listed with their sessions, the last used first', async (t) => {
  const counted = rows.filter(
    (row) => row.session_id !== null && row.source !== 'evaluator' && row.session_name !== null,
  );
  const names = [...Map.groupBy(counted, (row) => row.session_name!)].map(([name, own]) => {
    const times = own.map((row) => row.created_at.toISOString()).sort();
    const latencies = own.flatMap((row) => row.latency_ms ?? []);
    return {
      name,
      created_at: times[0]!,
      first_used: times[0]!,
      last_used: times.at(-1)!,
      session_count: new Set(own.map((row) => row.session_id)).size,
      avg_latency: sum(latencies) / latencies.length,
    };
  });
  names.sort((one, other) => (one.last_used > other.last_used ? -1 : 1));
  t.same(await post('name/query', { nameContains: '', limit: 100 }), names);
  t.same(
    await post('name/query', { nameContains: 'ME 4' }),
    names.filter(({ name }) => name === 'name 4'),
  );
  t.same(await post('name/query', { nameContains: 'name%' }), []);
  t.same(await post('name/query', { offset: 2, limit: 3 }), names.slice(2, 5));
});

t.test('metrics are the distributions of what a query lists', async (t) => {
  const random = seededRandom(3);
  const asked: Asked[] = [{}, { user: 'user-1' }];
  for (let round = 0; round < 8; round += 1) {
    const fromMs = START + Math.floor(random() * 6 * DAY_MS);
    asked.push({ fromMs, toMs: fromMs + Math.floor(random() * 6 * DAY_MS) });
  }
  for (const one of asked) {
    const { fromMs = 0, toMs = Date.now(), user } = one;
    const filter = user === undefined ? 'all' : { request: { user_id: { equals: user } } };
    const metrics = await post<SessionMetrics>('metrics/query', {
      timeFilter: timeFilter(fromMs, toMs),
      filter,
    });
    const sessions = expected(one);
    const values = {
      session_count: sessions.map((row) => row.total_requests),
      session_duration: sessions.map(
        (row) => (Date.parse(row.latest_request_created_at) - Date.parse(row.created_at)) / 1_000,
      ),
      session_cost: sessions.flatMap((row) => row.total_cost ?? []),
    };
    t.equal(metrics.exact, true);
    for (const [name, all] of Object.entries(values) as [keyof typeof values, number[]][]) {
      const sorted = all.toSorted((left, right) => left - right);
      const at = (share: number) => sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? null;
      const { mean, ...summary } = metrics.summary[name];
      t.same(summary, { count: all.length, p50: at(0.5), p90: at(0.9), p99: at(0.99) }, name);
      t.ok(
        all.length === 0 ? mean === null : Math.abs(mean! - sum(all) / all.length) < 1e-9,
        `mean of ${name}`,
      );
      t.equal(metrics.average[name][0]?.average, mean);
      t.equal(sum(metrics[name].map((bar) => bar.value)), all.length, `${name}: each is in a bar`);
      for (const { range_start, range_end, value } of metrics[name]) {
        t.equal(value, all.filter((each) => each >= range_start && each < range_end).length);
      }
    }
  }
});

t.test('pSize and useInterquartile bound what a histogram shows', async (t) => {
  const whole = await post<SessionMetrics>('metrics/query', {});
  const part = await post<SessionMetrics>('metrics/query', { pSize: 'p50', useInterquartile: true });
  const counts = expected({})
    .map((row) => row.total_requests)
    .sort((one, other) => one - other);
  const [least, most] = [
    counts[Math.ceil(0.25 * counts.length) - 1]!,
    counts[Math.ceil(0.5 * counts.length) - 1]!,
  ];
  t.equal(
    sum(part.session_count.map((bar) => bar.value)),
    counts.filter((count) => count >= least && count <= most).length,
  );
  t.same(part.summary, whole.summary, 'the summary is of all');
});

t.test('an organization sees its own sessions only', async (t) => {
  const answer = await api.call('/v1/session/query', { body: {}, key: api.other.key });
  t.match(answer.body.data, [
    { session_id: 'session 1', session_name: 'foreign', total_requests: 1, total_cost: 7e-9 },
  ]);
  t.equal((answer.body.data as unknown[]).length, 1);
});

t.test('a body that breaks a rule is a 400 that names the place and the rule', async (t) => {
  const bad: [string, object, RegExp][] = [
    ['query', { timefilter: {} }, /timefilter/],
    ['query', { timeFilter: { startTimeUnixMs: 5 } }, /timeFilter\.endTimeUnixMs/],
    [
      'query',
      { timeFilter: timeFilter(6, 5) },
      /timeFilter\.endTimeUnixMs must be at least startTimeUnixMs, 6, but is 5/,
    ],
    ['query', { timeFilter: timeFilter(0.5, 5) }, /timeFilter\.startTimeUnixMs/],
    ['query', { limit: 1_001 }, /limit must be at most 1000/],
    ['query', { limit: 0 }, /limit must be at least 1/],
    ['query', { offset: -1 }, /offset must be at least 0/],
    ['query', { search: 'x'.repeat(1_001) }, /search must have at most 1000 characters/],
    [
      'query',
      { filter: { request: { sesion_id: { equals: 'x' } } } },
      /filter\.request\.sesion_id is not a field/,
    ],
    ['metrics/query', { pSize: 'p51' }, /pSize must be one of/],
    ['name/query', { nameContains: 5 }, /nameContains must be a string/],
  ];
  for (const [path, body, sentence] of bad) {
    const { status, body: answer } = await api.call(`/v1/session/${path}`, { body });
    t.equal(status, 400, JSON.stringify(body));
    t.match(answer.error, sentence);
  }
});

t.test('odd texts in a search are looked for, not refused', async (t) => {
  for (const text of ['\0', '\ud800', '😀', "'; --", '\\', '%', 'x'.repeat(1_000)]) {
    t.same(await post('query', { search: text }), []);
    t.same(await post('query', { nameEquals: text }), []);
    t.same(await post('name/query', { nameContains: text }), []);
  }
});

t.test(
  'of many sessions, counts are exact and percentiles at most a per cent too small, also after late changes',
  async (t) => {
    const { sql } = api.database;
    const organizationId = api.other.organizationId;
    const add = (from: number, count: number, hoursAgo: number) => sql`
    insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, is_stream,
      truncated, session_id, cost_nano)
    select ${organizationId}, now() - ${hoursAgo}::int * interval '1 hour' - i * interval '2 minutes' + k * (i % 77) * interval '1 second',
           'r-' || i || '-' || k, 'gateway', '', 'OPENAI', 'm', 200, false, false, 'many ' || i, i * 12345::int8 + k
      from generate_series(${from}::int, ${from + count - 1}::int) as i cross join generate_series(0, 2) as k
     where k <= i % 3`;
    const recount = (from: number, count: number) => sql`
    select assay.recount_sessions(${organizationId}, array(
      select 'many ' || i from generate_series(${from}::int, ${from + count - 1}::int) as i))`;
    const check = async (window: { fromMs: number; toMs: number }) => {
      const { startTimeUnixMs, endTimeUnixMs } = timeFilter(window.fromMs, window.toMs);
      const answer = await api.call('/v1/session/metrics/query', {
        key: api.other.key,
        body: { timeFilter: { startTimeUnixMs, endTimeUnixMs } },
      });
      const metrics = answer.body.data as SessionMetrics;
      const own = await sql<{ n: number; seconds: number; usd: number | null }[]>`
      select count(*)::int as n, extract(epoch from max(created_at) - min(created_at))::float8 as seconds,
             sum(cost_nano)::float8 / 1e9 as usd
        from assay.requests where organization_id = ${organizationId} and session_id is not null
         and created_at >= ${new Date(window.fromMs)} and created_at < ${new Date(window.toMs)} group by session_id`;
      t.equal(metrics.exact, false);
      const values = {
        session_count: own.map((row) => row.n),
        session_duration: own.map((row) => row.seconds),
        session_cost: own.flatMap((row) => row.usd ?? []),
      };
      for (const [name, all] of Object.entries(values) as [keyof typeof values, number[]][]) {
        const sorted = all.toSorted((left, right) => left - right);
        const { count, mean, ...percentiles } = metrics.summary[name];
        t.equal(count, all.length, name);
        t.ok(Math.abs(mean! - sum(all) / all.length) < 1e-6, `mean of ${name}`);
        for (const [share, value] of [
          [0.5, percentiles.p50],
          [0.9, percentiles.p90],
          [0.99, percentiles.p99],
        ] as const) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1]!;
          t.ok(
            value! <= exact + 1e-9 && value! >= exact * 0.99 - 1e-9,
            `${share} of ${name}: ${value} of ${exact}`,
          );
        }
        for (const { range_start, range_end, value } of metrics[name])
          t.equal(
            value,
            all.filter((each) => each >= range_start && each < range_end).length,
            `${name} ${range_start}`,
          );
      }
    };
    const now = Date.now();
    await sql`select assay.ensure_partitions(now() - i * interval '1 day') from generate_series(0, 14) as i`;
    await add(0, 7_000, 0);
    await recount(0, 7_000);
    const windows = [
      { fromMs: 0, toMs: now + 1 },
      { fromMs: now - 8 * DAY_MS, toMs: now - DAY_MS / 3 },
      { fromMs: now - 20 * DAY_MS, toMs: now + DAY_MS },
    ];
    for (const window of windows) await check(window);
    await add(7_000, 900, -100);
    await recount(7_000, 900);
    await sql`delete from assay.requests where organization_id = ${organizationId} and session_id in ('many 3000', 'many 3002')`;
    await recount(3_000, 3);
    for (const window of windows) await check(window);
  },
);
