import { spawnSync } from 'node:child_process';
import t from 'tap';
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { runMetricsQuery } from '../../../../api/metrics/mod.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { generateRequests } from '../../../support/seed-requests.ts';
import { createWorld, type World } from '../../../support/world.ts';

/** More than are answered exactly for being few. */
const REQUESTS = 8_000;
const DAY_MS = 86_400_000;
const END = Date.UTC(2026, 4, 4, 7, 11);
const ERROR = 0.02;

let world: World;
let organizationId: string;
t.before(async () => {
  world = await createWorld(t);
  ({ organizationId } = await world.organization());
  await generateRequests(world.sql, { organizationId, count: REQUESTS, endMs: END });
  await registerRollups(world.sql);
  await applyAllChanges(world.sql);
  await recomputeAll(world.sql);
});

const METRICS = ['latency', 'ttft', 'tokens_per_second'] as const;
const QUANTILES = ['p0', 'p50', 'p90', 'p95', 'p99', 'p99.9'] as const;
const measures: MetricsQueryBody['measures'] = [
  ...METRICS.flatMap((metric) => QUANTILES.slice(0, 3).map((aggregate) => ({ metric, aggregate }))),
  { metric: 'cost', aggregate: 'sum' },
];
const range = { from: END - 20 * DAY_MS, to: END };

async function ask(body: MetricsQueryBody, engine?: 'rows'): Promise<MetricsAnswer> {
  const sql = connectAsApi(world.database.url);
  try {
    return await inOrganization(
      sql,
      organizationId,
      (tx) => runMetricsQuery(tx, organizationId, body, engine),
      {
        isSnapshot: true,
      },
    );
  } finally {
    await sql.end();
  }
}

/** Returns the values of an answer in order: of each series, bucket and measure. */
function valuesOf({ series, other, total }: MetricsAnswer): (number | null)[] {
  const all = [...series, ...(other === null ? [] : [other]), total];
  return all.flatMap(({ points, total: sum }) => [...points.flatMap(([, ...values]) => values), ...sum]);
}

t.test('quantiles from histograms differ from those of the rows by the stated error at most', async (t) => {
  for (const groupBy of [[], ['model'] as const]) {
    const body: MetricsQueryBody = {
      measures,
      groupBy: [...groupBy],
      limit: 3,
      // The other measures have no order of their own.
      orderBy: { measure: measures.length - 1 },
      range,
      bucket: 'day',
      timeZone: 'Asia/Kathmandu',
    };
    const [estimated, exact] = [await ask(body), await ask(body, 'rows')];
    t.match(estimated, { source: 'rollup', exact: false, error: ERROR });
    t.match(exact, { source: 'rows', exact: true, error: null });
    t.same(
      estimated.series.map(({ group }) => group),
      exact.series.map(({ group }) => group),
    );
    const [found, wanted] = [valuesOf(estimated), valuesOf(exact)];
    const differing = found.filter((value, index) => {
      const other = wanted[index] ?? null;
      if (value === null || other === null) return value !== other;
      return Math.abs(value - other) > ERROR * Math.abs(other) * (1 + 1e-9);
    });
    t.equal(found.length, wanted.length);
    t.same(differing, []);
    const sums = (answer: MetricsAnswer) => answer.series.map(({ total }) => total.at(-1));
    t.same(sums(estimated), sums(exact), 'sums are exact');
  }
});

const SCRIPT = `
import json, sys, numpy
values, shares = json.load(sys.stdin)
print(json.dumps([float(q) for q in numpy.percentile(numpy.array(values, dtype=float), shares)]))
`;
/** A Python that has numpy; .ci/run makes one. */
const PYTHON = process.env.PYTHON_ORACLES ?? 'python3';
const hasNumpy = spawnSync(PYTHON, ['-c', 'import numpy']).status === 0;
const skip =
  hasNumpy || process.env.CI === 'true'
    ? false
    : 'python3 has no numpy: pip install numpy, or name one that has it in PYTHON_ORACLES';

t.test('quantiles are those of numpy', { skip }, async (t) => {
  const columns = {
    latency: world.sql`latency_ms`,
    ttft: world.sql`ttft_ms`,
    tokens_per_second: world.sql`assay.milli_tokens_per_second(completion_tokens, latency_ms, ttft_ms, cached_from) / 1000.0`,
  };
  for (const metric of METRICS) {
    const rows = await world.sql<{ value: number }[]>`
      select (${columns[metric]})::float8 as value from assay.requests
       where created_at >= ${new Date(range.from)} and created_at < ${new Date(range.to)} and ${columns[metric]} is not null`;
    const input = JSON.stringify([
      rows.map(({ value }) => value),
      QUANTILES.map((name) => Number(name.slice(1))),
    ]);
    const { stdout, stderr } = spawnSync(PYTHON, ['-c', SCRIPT], { input, encoding: 'utf8' });
    t.equal(stderr, '');
    const wanted = JSON.parse(stdout) as number[];
    const body: MetricsQueryBody = {
      measures: QUANTILES.map((aggregate) => ({ metric, aggregate })),
      range,
      bucket: 'none',
    };
    const isWithin = (answer: MetricsAnswer, error: number) =>
      answer.total.total.every((value, index) => Math.abs(value! - wanted[index]!) <= error * wanted[index]!);
    t.ok(isWithin(await ask(body, 'rows'), 1e-12), `${metric} of rows`);
    t.ok(isWithin(await ask(body), ERROR * (1 + 1e-9)), `${metric} of roll-ups`);
  }
});
