import t from 'tap';
import {
  alternativesOf,
  alternativesToWalk,
  compileFilter,
  keySourcesOf,
  Parameters,
  parseFilter,
  propertyToWalk,
} from '#core/filter/mod.ts';

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

t.test('an id is compared in the type of its column, whatever the case of its letters', (t) => {
  const id = 'b6a02fa1-2b2d-40c5-95e1-93b528d8b55b';
  const compiled = (operator: string, operand: unknown) =>
    compile({ request: { api_key_id: { [operator]: operand } } });
  t.strictSame(compiled('equals', id.toUpperCase()), { text: 'r.api_key_id = $1::uuid', values: [id] });
  t.strictSame(compiled('not-equals', id), {
    text: 'r.api_key_id is distinct from $1::uuid',
    values: [id],
  });
  t.strictSame(compiled('equals', null), { text: 'r.api_key_id is null', values: [] });
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

t.test('values of one indexed column that are joined by "or" are listed by its index', (t) => {
  const user = (id: string | null, operator = 'equals') => ({ request: { user_id: { [operator]: id } } });
  const or = (left: unknown, right: unknown) => ({ left, operator: 'or', right });
  const and = (left: unknown, right: unknown) => ({ left, operator: 'and', right });
  const model = { request: { model_used: { equals: 'gpt-4o' } } };
  const slow = { response: { latency: { gt: 1000 } } };
  const operands = (filter: unknown) =>
    alternativesOf(parseFilter(filter))?.map(({ comparison }) => comparison.operand) ?? null;
  t.strictSame(operands(or(user('a'), or(user('b'), user('a')))), ['a', 'b']);
  t.strictSame(operands(and(slow, or(user('a'), user('b')))), ['a', 'b']);
  for (const other of [model, slow, user(null), user('c', 'not-equals'), and(user('c'), slow)])
    t.equal(operands(or(user('a'), other)), null, JSON.stringify(other));
  t.equal(operands(user('a')), null, 'Postgres needs no help with one value');
  t.equal(alternativesToWalk(parseFilter(and(model, or(user('a'), user('b'))))), null, 'nor beside another');
  t.end();
});
