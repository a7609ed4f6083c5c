/** Queries of metrics, over requests of a month. */
import t from 'tap';
import { COUNT, MARCH, startMarch } from './march.ts';

const { api, ask, facets } = await startMarch(t);

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
        // A day of 23 hours, whose only request has no known price; the last request is of the next one.
        [Date.parse('2026-03-28T23:00:00Z'), 1, 200, null],
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

t.test(
  'a cost is unknown where requests have tokens and none a price, and nothing where none has tokens',
  async (t) => {
    const costOf = async (from: string, to: string) =>
      (await ask({ measures: [{ metric: 'cost', aggregate: 'sum' }], range: { from, to }, bucket: 'none' }))
        .total.total;
    t.same(await costOf('2026-03-29T00:00:00Z', '2026-03-29T01:00:00Z'), [null], 'a model without a price');
    t.same(
      await costOf('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
      [0],
      'calls that failed, or count nothing',
    );
    t.same(await costOf('2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z'), [0], 'no requests');
    t.same(await costOf('2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'), [1.5], 'some of them have one');
  },
);

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
