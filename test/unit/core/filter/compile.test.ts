import t from 'tap';
import { compileFilter, keySourcesOf, Parameters, parseFilter, propertyToWalk } from '#core/filter/mod.ts';

function compile(filter: unknown, joins = false) {
  const parameters = new Parameters();
  return { text: compileFilter(parseFilter(filter), parameters, { joins }), values: parameters.values };
}

t.test('values and names of a caller are bound, never written into the SQL', (t) => {
  const hostile = `'; drop table assay.requests; --`;
  for (const filter of [
    { request: { model: { equals: hostile } } },
    { request: { body: { ilike: hostile } } },
    { properties: { [hostile]: { contains: hostile } } },
    { scores: { [hostile]: { equals: null } } },
    { values: { [hostile]: { equals: hostile } } },
    { values: { [`response.${hostile}`]: { 'not-equals': hostile } } },
  ]) {
    for (const joins of [false, true]) t.notMatch(compile(filter, joins).text, /drop|;|--/);
  }
  t.end();
});

/** How a number meets a column of whole numbers: exactly, and in the column's own type. */
const WHOLE: [filter: object, text: string, values: unknown[]][] = [
  [{ status: { equals: 200 } }, 'r.status = $1::int4', ['200']],
  [{ status: { equals: 200.5 } }, 'false', []],
  [{ status: { 'not-equals': 200.5 } }, 'true', []],
  [{ latency: { gt: 12.5 } }, 'r.latency_ms > $1::int4', ['12']],
  [{ latency: { gte: 12.5 } }, 'r.latency_ms >= $1::int4', ['13']],
  [{ latency: { lt: 12.5 } }, 'r.latency_ms < $1::int4', ['13']],
  [{ latency: { lte: 12.5 } }, 'r.latency_ms <= $1::int4', ['12']],
  [{ latency: { gt: -12.5 } }, 'r.latency_ms > $1::int4', ['-13']],
  [{ latency: { lt: -12.5 } }, 'r.latency_ms < $1::int4', ['-12']],
  [{ total_tokens: { gt: 2 ** 31 } }, 'false', []],
  [{ total_tokens: { lt: 1e300 } }, 'r.total_tokens is not null', []],
  [{ total_tokens: { gte: -1e300 } }, 'r.total_tokens is not null', []],
  [{ total_tokens: { lte: -1e300 } }, 'false', []],
  [{ total_tokens: { equals: 2 ** 31 } }, 'false', []],
  [{ total_tokens: { equals: null } }, 'r.total_tokens is null', []],
  [{ latency: { 'not-gt': 12.5 } }, '(r.latency_ms > $1::int4) is not true', ['12']],
  [{ total_tokens: { 'not-gt': 2 ** 31 } }, '(false) is not true', []],
  // Every record has a status, and an index serves the opposite order.
  [{ status: { 'not-gte': 500 } }, 'r.status < $1::int4', ['500']],
  [{ cost: { equals: 0.1 } }, 'r.cost_nano = $1::int8', ['100000000']],
  [{ cost: { gt: 1.5e-9 } }, 'r.cost_nano > $1::int8', ['1']],
  [{ cost: { gte: 0.123456789 } }, 'r.cost_nano >= $1::int8', ['123456789']],
  [{ cost: { equals: 1e-10 } }, 'false', []],
  [{ cost: { lt: 1e10 } }, 'r.cost_nano is not null', []],
];

t.test('numbers are compared exactly with columns of whole numbers', (t) => {
  for (const [field, text, values] of WHOLE) {
    t.strictSame(compile({ response: field }), { text, values }, JSON.stringify(field));
  }
  t.end();
});

t.test('a score is joined only when every match must have it', (t) => {
  const score = { scores: { quality: { gt: 0.5 } } };
  t.match(compile(score, true).text, /^exists/);
  t.match(compile({ left: score, operator: 'and', right: 'all' }, true).text, 'exists');
  t.notMatch(compile({ left: score, operator: 'or', right: score }, true).text, 'exists');
  t.notMatch(compile(score, false).text, 'exists');
  t.end();
});

t.test('leaves that an index can list are found under "and" alone', (t) => {
  const plan = { properties: { plan: { equals: 'pro' } } };
  const slow = { response: { latency: { gt: 1000 } } };
  const user = { request: { user_id: { equals: 'a' } } };
  const sources = (filter: unknown) => keySourcesOf(parseFilter(filter)).map(({ field }) => field.kind);
  t.strictSame(
    sources({ left: plan, operator: 'and', right: { left: slow, operator: 'and', right: user } }),
    ['property', 'whole-number'],
  );
  t.strictSame(sources({ left: plan, operator: 'or', right: slow }), []);
  t.strictSame(sources('all'), []);
  t.match(propertyToWalk(parseFilter({ left: slow, operator: 'and', right: plan })), {
    field: { name: 'plan' },
  });
  t.equal(propertyToWalk(parseFilter({ left: user, operator: 'and', right: plan })), null);
  t.end();
});
