import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { evaluateMetrics, type OracleQuery } from '../../../support/metrics-oracle.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

const SEED = 20_261_123;
const RECORDS = 400;
const QUERIES = 60;
const DAY_MS = 86_400_000;
/** Around the end of summer time in Europe and in America. */
const FROM = Date.UTC(2025, 9, 20);
const DAYS = 20;

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 3 });

const KEY_IDS = ['00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b'];

const recordArbitrary = fc.record({
  created_at: fc.integer({ min: 0, max: DAYS * DAY_MS - 1 }).map((ms) => new Date(FROM + ms)),
  source: oneOf('gateway', 'gateway', 'gateway', 'api', 'playground', 'evaluator'),
  path: oneOf('/v1/chat/completions', '/v1/embeddings'),
  provider: oneOf('OPENAI', 'ANTHROPIC'),
  model: oneOf('gpt-4o', 'claude-sonnet-4', 'ä😀', ''),
  status: oneOf(200, 200, 200, 400, 429, 500),
  latency_ms: maybe(fc.integer({ min: 0, max: 70_000 })),
  ttft_ms: maybe(fc.integer({ min: 0, max: 3_000 })),
  prompt_tokens: maybe(fc.integer({ min: 0, max: 2 ** 31 - 1 })),
  completion_tokens: maybe(fc.integer({ min: 0, max: 5_000 })),
  total_tokens: maybe(fc.integer({ min: 0, max: 5_000 })),
  cost_nano: maybe(fc.integer({ min: 0, max: 4e12 })),
  user_id: maybe(oneOf('ann', 'bob', 'zoë', 'ANN', '')),
  prompt_id: maybe(oneOf('p1', 'p2')),
  prompt_version: maybe(oneOf('1', '2')),
  properties: maybe(
    oneOf<Record<string, string>>({ Plan: 'pro' }, { plan: 'free' }, { PLAN: '' }, { other: 'x' }),
  ),
  feedback_rating: maybe(fc.boolean()),
  api_key_id: maybe(oneOf(...KEY_IDS)),
  error_code: maybe(oneOf('rate_limit_exceeded', 'provider_timeout')),
  scores: oneOf<Record<string, number>>({}, { polite: 1 }, { polite: 0.25, 'a key': -3.5 }, { polite: 0 }),
});

/** A record in six was answered from the cache; of every other of those, the saved cost is known. */
function makeRecords(): Partial<SeedRequest>[] {
  const rows = fc.sample(recordArbitrary, { numRuns: RECORDS, seed: SEED });
  return rows.map((row, index) => ({
    ...row,
    request_id: `request-${index}`,
    cached_from: index % 6 > 0 ? null : 'original',
    cost_saved_nano: index % 12 > 0 ? null : index * 1_000_003,
  }));
}

/** Filters with what they mean; what filters mean in general has a test of its own. */
const FILTERS: readonly { filter: unknown; passes: (row: SeedRequest) => boolean }[] = [
  { filter: undefined, passes: () => true },
  { filter: 'all', passes: () => true },
  {
    filter: { request: { provider: { equals: 'OPENAI' } } },
    passes: ({ provider }) => provider === 'OPENAI',
  },
  { filter: { response: { status: { gte: 400 } } }, passes: ({ status }) => status >= 400 },
  {
    filter: { request: { model_used: { 'not-equals': 'gpt-4o' } } },
    passes: ({ model }) => model !== 'gpt-4o',
  },
  {
    filter: { request: { api_key_id: { equals: KEY_IDS[1] } } },
    passes: ({ api_key_id }) => api_key_id === KEY_IDS[1],
  },
  {
    filter: { request: { source: { 'not-equals': 'playground' } } },
    passes: ({ source }) => source !== 'playground',
  },
  {
    filter: { response: { error_code: { equals: 'provider_timeout' } } },
    passes: ({ error_code }) => error_code === 'provider_timeout',
  },
  {
    filter: { properties: { plan: { equals: 'pro' } } },
    passes: ({ properties }) => properties?.Plan === 'pro',
  },
  { filter: { scores: { polite: { gt: 0.1 } } }, passes: ({ scores }) => (scores.polite ?? 0) > 0.1 },
  {
    filter: {
      left: { request: { user_id: { equals: null } } },
      operator: 'or',
      right: { request: { prompt_id: { 'not-equals': 'p1' } } },
    },
    passes: ({ user_id, prompt_id }) => user_id === null || prompt_id !== 'p1',
  },
  { filter: { request: { id: { equals: 'nothing' } } }, passes: () => false },
];

const counted = oneOf('errors', 'cache_hits', 'feedback');
const numbers = oneOf(
  'cost',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'latency',
  'ttft',
  'tokens_per_second',
  'cost_saved',
  'score:polite',
  'score:a key',
  'score:none',
);
const measureArbitrary = fc.oneof(
  fc.record({ metric: fc.constant('requests'), aggregate: oneOf('count', 'sum', 'rate') }),
  fc.record({ metric: counted, aggregate: oneOf('count', 'sum', 'avg', 'rate') }),
  fc.record({
    metric: numbers,
    aggregate: oneOf('count', 'sum', 'avg', 'min', 'max', 'p0', 'p50', 'p7', 'p90', 'p99', 'p99.9'),
  }),
  fc.record({ metric: oneOf('cost', 'total_tokens', 'cost_saved'), aggregate: fc.constant('rate') }),
) as fc.Arbitrary<MetricsQueryBody['measures'][number]>;

const UNITS = ['none', 'month', 'week', 'day', 'hour', '5m'] as const;
type Filter = (typeof FILTERS)[number];

function queries(parts: {
  measure: fc.Arbitrary<MetricsQueryBody['measures'][number]>;
  groupBy: fc.Arbitrary<string[]>;
  filters: readonly Filter[];
}) {
  const order = fc.record({ measure: fc.nat(3), direction: oneOf('asc', 'desc') }, { requiredKeys: [] });
  const sources = fc.uniqueArray(oneOf('gateway', 'api', 'evaluator'), { minLength: 1 });
  return fc
    .record({
      measures: fc.array(parts.measure, { minLength: 1, maxLength: 4 }),
      groupBy: parts.groupBy,
      filter: fc.constantFrom(...parts.filters),
      sources: fc.option(sources, { nil: undefined }),
      timeZone: oneOf(undefined, 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'America/St_Johns'),
      bucket: fc.constantFrom(...UNITS),
      limit: oneOf(undefined, 1, 2, 5),
      orderBy: fc.option(order, { nil: undefined }),
      from: fc.integer({ min: -DAY_MS, max: DAYS * DAY_MS }),
      share: fc.integer({ min: 0, max: 1_000 }),
    })
    .map(({ filter, from, share, ...rest }) => {
      // Few buckets where they are short, so that answers stay readable.
      const longest = rest.bucket === '5m' ? DAY_MS / 8 : rest.bucket === 'hour' ? 3 * DAY_MS : 25 * DAY_MS;
      const range = { from: FROM + from, to: FROM + from + 1 + Math.floor((share / 1_000) * longest) };
      const measure = Math.min(rest.orderBy?.measure ?? 0, rest.measures.length - 1);
      const orderBy = rest.orderBy === undefined ? undefined : { ...rest.orderBy, measure };
      const body = { ...rest, orderBy, range, filter: filter.filter };
      return { body: JSON.parse(JSON.stringify(body)) as OracleQuery, passes: filter.passes };
    });
}

const anyQuery = queries({
  measure: measureArbitrary,
  groupBy: fc.uniqueArray(
    oneOf(
      'model',
      'provider',
      'user',
      'status',
      'error_code',
      'api_key',
      'prompt_id',
      'prompt_version',
      'source',
      'path',
      'property:pLaN',
    ),
    { maxLength: 3 },
  ),
  filters: FILTERS,
});

/** Queries that roll-ups have the dimensions of, though perhaps not all at once. */
const queryOfRollups = queries({
  measure: fc.oneof(
    measureArbitrary.filter(({ aggregate }) => !aggregate.startsWith('p')),
    fc.record({
      metric: oneOf('latency', 'ttft', 'tokens_per_second'),
      aggregate: oneOf('p0', 'p50', 'p99'),
    }),
  ) as typeof measureArbitrary,
  groupBy: oneOf<string[]>(
    [],
    [],
    ['model'],
    ['provider', 'model'],
    ['model', 'status'],
    ['api_key'],
    ['prompt_id', 'prompt_version'],
    ['path'],
    ['source'],
  ),
  // Few filters go with all groups: of two dimensions that no level has together, rows are read.
  filters: [...FILTERS.slice(0, 7), ...FILTERS.slice(0, 2)],
});

/** Queries that the roll-ups of users and properties answer, and some that they do not. */
const queryOfValues = queries({
  measure: fc.record({
    metric: oneOf('requests', 'errors', 'cost', 'prompt_tokens', 'completion_tokens', 'total_tokens'),
    aggregate: oneOf('count', 'sum', 'rate'),
  }) as typeof measureArbitrary,
  groupBy: oneOf<string[]>(['user'], ['property:pLaN'], ['property:other'], ['property:none']),
  filters: FILTERS.slice(0, 3),
});

/** Sums of fractions depend on their order in the last digit, so that numbers may differ by a part in 10¹². */
function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-12 * Math.max(Math.abs(one), Math.abs(other));
}

/** Returns where two answers differ, with both values. */
function differences(found: unknown, wanted: unknown, where = ''): string[] {
  if (typeof found === 'number' && typeof wanted === 'number' && isClose(found, wanted)) return [];
  if (typeof found !== 'object' || typeof wanted !== 'object' || found === null || wanted === null) {
    return found === wanted ? [] : [`${where}: ${found} instead of ${wanted}`];
  }
  const [left, right] = [new Map(Object.entries(found)), new Map(Object.entries(wanted))];
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].flatMap((name) => differences(left.get(name), right.get(name), `${where}.${name}`));
}

let api: TestApi;
let records: SeedRequest[];
t.before(async () => {
  api = await startTestApi(t);
  records = await insertRequests(api.database.sql, api.own.organizationId, makeRecords());
  await insertRequests(
    api.database.sql,
    api.other.organizationId,
    makeRecords().map((row) => ({ ...row, request_id: `foreign ${row.request_id}` })),
  );
});

async function ask(body: object): Promise<MetricsAnswer> {
  const answer = await api.call('/v1/metrics/query', { body });
  if (answer.status !== 200) throw new Error(`${answer.text} ${JSON.stringify(body)}`);
  return answer.body.data as MetricsAnswer;
}

async function compareAll(t: Test, query: typeof anyQuery, seed: number): Promise<MetricsAnswer[]> {
  const answers: MetricsAnswer[] = [];
  for (const { body, passes } of fc.sample(query, { numRuns: QUERIES, seed })) {
    const answer = await ask(body);
    const { series, other, total } = answer;
    const wanted = evaluateMetrics(records, body, passes);
    t.same(differences({ series, other, total }, wanted), [], `${answer.source}: ${JSON.stringify(body)}`);
    answers.push(answer);
  }
  return answers;
}

t.test('random queries over rows answer what a plain evaluation of the records does', async (t) => {
  const answers = await compareAll(t, anyQuery, SEED);
  t.ok(answers.every(({ source, exact }) => source === 'rows' && exact));
});

t.test(
  'random queries answer the same from roll-ups, and while some of their buckets are stale',
  async (t) => {
    const { sql } = api.database;
    await registerRollups(sql);
    await applyAllChanges(sql);
    await recomputeAll(sql);
    const clean = await compareAll(t, queryOfRollups, SEED + 1);
    t.ok(clean.filter(({ source }) => source === 'rollup').length > QUERIES / 5);
    const byValue = await compareAll(t, queryOfValues, SEED + 3);
    t.ok(byValue.filter(({ source }) => source === 'rollup').length > QUERIES / 5);
    await sql`
    insert into assay.rollup_stale (organization_id, family, grain_seconds, begins_at)
    select distinct on (organization_id, family, grain_seconds, begins_at) organization_id, family, grain_seconds, begins_at from (
      select organization_id, 'totals' as family, grain_seconds, begins_at from assay.rollup_totals
       union all select organization_id, 'values', grain_seconds, begins_at from assay.rollup_values
       union all select organization_id, 'scores', grain_seconds, begins_at from assay.rollup_scores) bucket
     where hashint8(extract(epoch from begins_at)::int8 + grain_seconds) % 3 = 0`;
    // What a stale bucket holds is wrong.
    await sql`
    update assay.rollup_totals b set requests = 1000000 from assay.rollup_stale s
     where s.family = 'totals' and s.grain_seconds = b.grain_seconds and s.begins_at = b.begins_at`;
    await sql`
    update assay.rollup_values b set requests = 1000000 from assay.rollup_stale s
     where s.family = 'values' and s.grain_seconds = b.grain_seconds and s.begins_at = b.begins_at`;
    await compareAll(t, queryOfValues, SEED + 4);
    const stale = await compareAll(t, queryOfRollups, SEED + 2);
    t.ok(stale.filter(({ source }) => source === 'rollup').length > QUERIES / 5);
  },
);

t.test('values that were summed up as others are counted in the rows', async (t) => {
  const { sql } = api.database;
  await registerRollups(sql);
  await applyAllChanges(sql);
  await recomputeAll(sql);
  const body = {
    measures: [{ metric: 'requests', aggregate: 'count' }],
    groupBy: ['property:plan'],
    range: { from: FROM, to: FROM + DAYS * DAY_MS },
    bucket: 'none',
  };
  const exact = await ask(body);
  t.equal(exact.source, 'rollup');
  await sql`
    update assay.rollup_values set value = '', is_other = true
     where organization_id = ${api.own.organizationId} and name = 'plan' and value = 'free'`;
  const counted = await ask(body);
  t.equal(counted.source, 'rows');
  t.same(counted.series, exact.series);
});
