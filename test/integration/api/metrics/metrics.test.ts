import t, { type Test } from 'tap';
import type { Facets } from '#core/contracts/facets.ts';
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const QUERY = '/v1/metrics/query';
const FACETS = '/v1/request/facets';
const MARCH = { from: '2026-03-01', to: '2026-04-01' };
const LONG = '😀'.repeat(5_000);
const COUNT = { metric: 'requests', aggregate: 'count' };

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  const { own, other, database } = api;
  const at = (day: number, hour = 12) => new Date(Date.UTC(2026, 2, day, hour));
  const rows = [
    {
      created_at: at(1),
      model: 'a',
      status: 200,
      user_id: 'ann',
      latency_ms: 100,
      properties: { Plan: 'pro' },
    },
    {
      created_at: at(1),
      model: 'a',
      status: 500,
      user_id: 'ann',
      latency_ms: 300,
      properties: { Plan: 'pro' },
    },
    {
      created_at: at(2),
      model: 'b',
      status: 200,
      user_id: 'bob',
      latency_ms: null,
      properties: { Plan: LONG },
    },
    { created_at: at(29, 0), model: 'b', status: 200, user_id: null, latency_ms: 200 },
    {
      created_at: at(29, 22),
      model: '100%_a',
      status: 200,
      user_id: null,
      latency_ms: 400,
      cost_nano: 1_500_000_000,
    },
    { created_at: at(29), model: 'judge', source: 'evaluator', status: 200 },
  ];
  await insertRequests(database.sql, own.organizationId, rows);
  await insertRequests(database.sql, other.organizationId, [{ created_at: at(3), model: 'secret' }]);
});

async function ask(body: object, key?: string): Promise<MetricsAnswer> {
  const answer = await api.call(QUERY, { body, ...(key === undefined ? {} : { key }) });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as MetricsAnswer;
}

async function facets(body: object, key?: string): Promise<Facets> {
  const answer = await api.call(FACETS, { body, ...(key === undefined ? {} : { key }) });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as Facets;
}

t.test('a query answers with its buckets, range and zone, without the calls of evaluators', async (t) => {
  const { series, other, total, ...rest } = await ask({
    measures: [COUNT, { metric: 'latency', aggregate: 'p50' }, { metric: 'cost', aggregate: 'sum' }],
    range: { from: '2026-03-28T23:00:00Z', to: Date.parse('2026-03-30T22:00:00Z') },
    bucket: 'day',
    timeZone: 'Europe/Berlin',
  });
  t.same(series, [
    {
      group: {},
      points: [
        // A day of 23 hours; the last request is of the next one.
        [Date.parse('2026-03-28T23:00:00Z'), 1, 200, 0],
        [Date.parse('2026-03-29T22:00:00Z'), 1, 400, 1.5],
      ],
      total: [2, 300, 1.5],
    },
  ]);
  t.equal(other, null);
  t.same(total, { points: series[0]!.points, total: series[0]!.total });
  t.match(rest, {
    bucket: 'day',
    timeZone: 'Europe/Berlin',
    range: { from: '2026-03-28T23:00:00.000Z', to: '2026-03-30T22:00:00.000Z' },
    previousRange: null,
    exact: true,
    error: null,
    source: 'rows',
  });
  t.ok(Math.abs(Date.parse(rest.asOf) - Date.now()) < 60_000);
});

t.test('calls of evaluators are measured when they are asked for', async (t) => {
  const body = { measures: [COUNT], range: MARCH, bucket: 'none' };
  t.same((await ask({ ...body, sources: ['evaluator'] })).total.total, [1]);
  t.same((await ask({ ...body, sources: ['evaluator', 'gateway'] })).total.total, [6]);
});

t.test('a comparison has the buckets of the period before, of the groups of this one', async (t) => {
  const { series, other, previousRange } = await ask({
    measures: [COUNT],
    groupBy: ['model'],
    limit: 1,
    range: { from: '2026-03-02', to: '2026-03-03' },
    bucket: 'day',
    compareWith: 'previous',
  });
  const day = Date.UTC(2026, 2, 2);
  const before = Date.UTC(2026, 2, 1);
  t.same(previousRange, { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' });
  t.same(series, [
    {
      group: { model: 'b' },
      points: [[day, 1]],
      total: [1],
      previous: { points: [[before, 0]], total: [0] },
    },
  ]);
  t.same(other, { points: [[day, 0]], total: [0], previous: { points: [[before, 2]], total: [2] } });
});

t.test('a request that two evaluators graded is in the groups of both', async (t) => {
  const { sql } = api.database;
  const { organizationId } = api.own;
  const [request] = await sql<{ created_at: Date; request_id: string }[]>`
    select created_at, request_id from assay.requests
     where organization_id = ${organizationId} and source = 'gateway' order by created_at limit 1`;
  const ids = ['0b5c3c0e-0d7d-4c38-8a6a-000000000001', '0b5c3c0e-0d7d-4c38-8a6a-000000000002'];
  for (const evaluator_id of ids) {
    await sql`insert into assay.evaluations ${sql({
      organization_id: organizationId,
      evaluator_id,
      version: 1,
      created_at: request!.created_at,
      request_id: request!.request_id,
      lane: 'remote',
      priority: 0,
      state: 'completed',
      due_at: new Date(),
      scheduled_at: new Date(),
    })}`;
  }
  const { series } = await ask({ measures: [COUNT], groupBy: ['evaluator'], range: MARCH, bucket: 'none' });
  t.same(
    series.map(({ group, total }) => [group.evaluator, total[0]]),
    [
      [null, 4],
      [ids[0], 1],
      [ids[1], 1],
    ],
  );
});

t.test('a rate counts requests a minute, of the minutes that have passed', async (t) => {
  const body = { measures: [{ metric: 'requests', aggregate: 'rate' }], bucket: 'none' };
  t.same((await ask({ ...body, range: { from: '2026-03-01', to: '2026-03-02' } })).total.total, [2 / 1_440]);
  const from = Date.parse('2026-03-01');
  const { total, asOf } = await ask({ ...body, range: { from, to: '2099-01-01' } });
  t.same(total.total, [5 / ((Date.parse(asOf) - from) / 60_000)]);
});

t.test('filters may be texts', async (t) => {
  const { total } = await ask({ measures: [COUNT], q: 'status:>=500', range: MARCH, bucket: 'none' });
  t.same(total.total, [1]);
});

t.test('another organization sees its own requests alone', async (t) => {
  const { key } = api.other;
  const { series } = await ask({ measures: [COUNT], groupBy: ['model'], range: MARCH, bucket: 'none' }, key);
  t.same(
    series.map(({ group }) => group),
    [{ model: 'secret' }],
  );
  t.same((await facets({ field: 'model' }, key)).values, [{ value: 'secret', count: 1 }]);
});

/** Bodies that are refused, with the sentence. */
const RANGE = { range: MARCH };
const REFUSALS: [body: object, sentence: string][] = [
  [{ ...RANGE }, 'measures is required'],
  [{ measures: [], ...RANGE }, 'measures must hold at least 1 items, but holds 0'],
  [{ measures: Array(11).fill(COUNT), ...RANGE }, 'measures must hold at most 10 items, but holds 11'],
  [
    { measures: [{ metric: 'nothing', aggregate: 'sum' }], ...RANGE },
    'measures.0.metric must be one of requests, errors',
  ],
  [
    { measures: [{ metric: 'score:', aggregate: 'sum' }], ...RANGE },
    'measures.0.metric must be one of requests, errors',
  ],
  [
    { measures: [{ metric: 'latency', aggregate: 'p100' }], ...RANGE },
    'measures.0.aggregate must be one of count, sum',
  ],
  [
    { measures: [{ metric: 'latency', aggregate: 'rate' }], ...RANGE },
    'measures[0].aggregate must be one of count, sum, avg, min, max, or a quantile such as p99, which latency has, but is "rate"',
  ],
  [
    { measures: [COUNT, { metric: 'requests', aggregate: 'p50' }], ...RANGE },
    'measures[1].aggregate must be one of count, sum, rate, which requests has, but is "p50"',
  ],
  [{ measures: [{ ...COUNT, more: 1 }], ...RANGE }, 'measures.0.more is not a known field'],
  [{ measures: [COUNT] }, 'range is required'],
  [{ measures: [COUNT], range: { from: '2026-03-01' } }, 'range.to is required'],
  [
    { measures: [COUNT], range: { from: '2026-03-01', to: '2026-03-01' } },
    'range.to must be after range.from, "2026-03-01", but is "2026-03-01"',
  ],
  [
    { measures: [COUNT], range: { from: '2026-02-30', to: '2026-03-01' } },
    'range.from must be a time in RFC 3339',
  ],
  [
    { measures: [COUNT], range: { from: '1960-01-01', to: '2026-03-01' } },
    'range.from must be a time in RFC 3339',
  ],
  [
    { measures: [COUNT], range: { from: 0.5, to: '2026-03-01' } },
    'range.from must be a string or a whole number, but is 0.5',
  ],
  [{ measures: [COUNT], ...RANGE, groupBy: ['model', 'model'] }, 'groupBy must not hold an item twice'],
  [
    { measures: [COUNT], ...RANGE, groupBy: ['model', 'user', 'path', 'status'] },
    'groupBy must hold at most 3 items, but holds 4',
  ],
  [{ measures: [COUNT], ...RANGE, groupBy: ['property:'] }, 'groupBy.0 must be one of model, provider'],
  [{ measures: [COUNT], ...RANGE, bucket: 'year' }, 'bucket must be one of "minute", "5m"'],
  [
    { measures: [COUNT], ...RANGE, timeZone: 'Berlin' },
    'timeZone must be a name of the IANA database, such as Europe/Berlin, but is "Berlin"',
  ],
  [{ measures: [COUNT], ...RANGE, timeZone: 'UTC\0' }, 'timeZone must be a name of the IANA database'],
  [{ measures: [COUNT], ...RANGE, limit: 0 }, 'limit must be at least 1, but is 0'],
  [{ measures: [COUNT], ...RANGE, limit: 1_001 }, 'limit must be at most 1000, but is 1001'],
  [
    { measures: [COUNT], ...RANGE, orderBy: { measure: 1 } },
    'orderBy.measure must be an index into measures, from 0 to 0, but is 1',
  ],
  [
    { measures: [COUNT], ...RANGE, orderBy: { direction: 'up' } },
    'orderBy.direction must be one of "asc", "desc"',
  ],
  [{ measures: [COUNT], ...RANGE, compareWith: 'next' }, 'compareWith must be "previous"'],
  [{ measures: [COUNT], ...RANGE, sources: [] }, 'sources must hold at least 1 items, but holds 0'],
  [{ measures: [COUNT], ...RANGE, filter: { request: { model: 'a' } } }, 'filter.request.model'],
  [{ measures: [COUNT], ...RANGE, filter: 'all', q: 'a' }, 'q and filter exclude each other'],
  [
    { measures: [COUNT], ...RANGE, bucket: 'minute', groupBy: ['model'], limit: 10 },
    'bucket must be longer, or range shorter, or limit lower: the answer could hold 535692 values, and at most 250000 are allowed',
  ],
  [{ measures: [COUNT], ...RANGE, more: 1 }, 'more is not a known field'],
];

t.test('a body that breaks a rule is refused with its place and the rule', async (t) => {
  for (const [body, sentence] of REFUSALS) {
    const answer = await api.call(QUERY, { body });
    t.equal(answer.status, 400, answer.text);
    t.ok(answer.body.error?.startsWith(sentence), `${answer.body.error} begins with ${sentence}`);
  }
  const wrong: [object, string][] = [
    [{}, 'field is required'],
    [{ field: 'evaluator' }, 'field must be one of model, provider'],
    [{ field: 'model', limit: 1_001 }, 'limit must be at most 1000'],
    [{ field: 'model', search: 'x'.repeat(1_001) }, 'search must have at most 1000 characters'],
    [{ field: 'model', range: { from: 1, to: 0 } }, 'range.to must be after range.from'],
    [{ field: 'model', filter: 'none' }, 'filter must be "all"'],
  ];
  for (const [body, sentence] of wrong) {
    const answer = await api.call(FACETS, { body });
    t.equal(answer.status, 400, answer.text);
    t.ok(answer.body.error?.startsWith(sentence), `${answer.body.error} begins with ${sentence}`);
  }
});

t.test('odd texts are names like others', async (t) => {
  for (const name of ['\0', '__proto__', "'; drop table requests; --", '😀'.repeat(50), '%']) {
    const body = {
      measures: [{ metric: `score:${name}`, aggregate: 'avg' }],
      groupBy: [`property:${name}`],
      range: MARCH,
      bucket: 'none',
    };
    const { series } = await ask(body);
    t.same(
      series.map(({ group, total }) => [group[`property:${name}`], total]),
      [[null, [null]]],
    );
  }
});

const USERS = [
  { value: 'ann', count: 2 },
  { value: null, count: 2 },
  { value: 'bob', count: 1 },
];
const MODELS = [
  { value: 'a', count: 2 },
  { value: 'b', count: 2 },
  { value: '100%_a', count: 1 },
];

async function checkFacets(t: Test, source: 'rows' | 'rollup'): Promise<void> {
  t.same((await facets({ field: 'model' })).values, MODELS);
  t.match(await facets({ field: 'model' }), { approximate: false, source });
  t.same((await facets({ field: 'model', limit: 1 })).values, MODELS.slice(0, 1));
  t.same((await facets({ field: 'model', search: 'A' })).values, [MODELS[0], MODELS[2]]);
  t.same((await facets({ field: 'model', search: '0%_' })).values, [MODELS[2]], 'search is literal');
  t.same((await facets({ field: 'status', range: { from: '2026-03-01', to: '2026-03-02' } })).values, [
    { value: 200, count: 1 },
    { value: 500, count: 1 },
  ]);
  t.same((await facets({ field: 'model', filter: { response: { status: { gte: 500 } } } })).values, [
    { value: 'a', count: 1 },
  ]);
  const ofModel = { request: { model_used: { equals: 'a' } } };
  t.match(await facets({ field: 'model', filter: ofModel }), { values: [{ value: 'a', count: 2 }], source });
  const ofNoKey = { request: { api_key_id: { equals: null } } };
  t.match(await facets({ field: 'api_key', filter: ofNoKey }), {
    values: [{ value: null, count: 5 }],
    source,
  });
  t.same((await facets({ field: 'error_code' })).values, [{ value: null, count: 5 }]);
  t.same((await facets({ field: 'model', sources: ['evaluator'] })).values, [{ value: 'judge', count: 1 }]);
}

t.test(
  'facets count the values of a field under a filter, the same from rows and from roll-ups',
  async (t) => {
    await checkFacets(t, 'rows');
    t.same((await facets({ field: 'user' })).values, USERS);
    t.same((await facets({ field: 'property:pLAN', search: 'pro' })).values, [{ value: 'pro', count: 2 }]);
    t.same(
      (await facets({ field: 'property:plan', filter: { properties: { plan: { equals: 'pro' } } } })).values,
      [{ value: 'pro', count: 2 }],
    );
    const { sql } = api.database;
    await registerRollups(sql);
    await applyAllChanges(sql);
    await recomputeAll(sql);
    await checkFacets(t, 'rollup');
    const scores = { measures: [{ metric: 'score:x', aggregate: 'avg' }], range: MARCH, bucket: 'none' };
    t.match(await ask(scores), { source: 'rollup', total: { total: [null] } }, 'no rows are read');

    t.match(await facets({ field: 'user' }), { values: USERS, source: 'rollup' });
    await sql`
      insert into assay.rollup_values
      select (jsonb_populate_record(v, jsonb_build_object('value', 'user ' || number))).*
        from (select v from assay.rollup_values v where dimension = 'user' and grain_seconds = 86400
                order by begins_at desc limit 1) one,
             generate_series(1, 13000) as number`;
    t.match(
      await facets({ field: 'user' }),
      { values: USERS, source: 'rows', approximate: false },
      'too many users to add up',
    );
    await sql`delete from assay.rollup_values where value like 'user %'`;
  },
);
