/** Filters become nodes, within limits. */
import t from 'tap';
import { MAX_DEPTH, MAX_LEAVES } from '#core/filter/limits.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { ALL } from '#core/filter/nodes.ts';

const LEAF = { request: { model: { equals: 'gpt-4o' } } };

/** A chain of branches so many deep. */
function nested(depth: number): unknown {
  let filter: unknown = LEAF;
  for (let level = 0; level < depth; level += 1) filter = { left: filter, operator: 'and', right: 'all' };
  return filter;
}

/** A balanced tree with so many leaves. */
function wide(leaves: number): unknown {
  if (leaves === 1) return LEAF;
  return { left: wide(Math.floor(leaves / 2)), operator: 'or', right: wide(Math.ceil(leaves / 2)) };
}

t.test('filters are accepted up to the limits of depth, leaves and strings, and refused beyond', (t) => {
  t.ok(parseFilter(nested(MAX_DEPTH)));
  t.throws(() => parseFilter(nested(MAX_DEPTH + 1)), {
    message: 'filter must be at most 64 branches deep, but is deeper',
  });
  t.throws(() => parseFilter(nested(100_000)), {
    message: 'filter must be at most 64 branches deep, but is deeper',
  });
  t.ok(parseFilter(wide(MAX_LEAVES)));
  t.throws(() => parseFilter(wide(MAX_LEAVES + 1)), {
    message: 'filter must have at most 500 leaves, but has more',
  });
  const containing = (text: string) => ({ request: { body: { contains: text } } });
  t.ok(parseFilter(containing('x'.repeat(10_000))));
  t.ok(parseFilter(containing('😀'.repeat(10_000))), 'an emoji is one character');
  t.throws(() => parseFilter(containing('x'.repeat(10_001))), {
    message: 'filter.request.body.contains must have at most 10000 characters, but has 10001',
  });
  t.throws(() => parseFilter({ properties: { ['x'.repeat(10_001)]: { equals: 'a' } } }), {
    message: /must have a name of at most 10000 characters$/,
  });
  t.end();
});

t.test('a deeply nested operand is refused without a stack overflow', (t) => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  t.throws(() => parseFilter({ request: { model: { equals: deep } } }), { code: 'invalid_filter' });
  t.end();
});

t.test('a filter becomes frozen nodes', (t) => {
  t.equal(parseFilter('all'), ALL);
  t.equal(parseFilter({}), ALL);
  const filter = parseFilter({ left: LEAF, operator: 'or', right: 'all' });
  t.strictSame(filter, {
    kind: 'branch',
    operator: 'or',
    left: {
      kind: 'leaf',
      field: { kind: 'column', type: 'text', column: 'request_model' },
      comparison: { operator: 'equals', operand: 'gpt-4o' },
    },
    right: { kind: 'all' },
  });
  t.ok(Object.isFrozen(filter) && filter.kind === 'branch' && Object.isFrozen(filter.left));
  t.end();
});

t.test('a user id, or a model, that is longer than what is stored of it finds its records', (t) => {
  const read = (field: string, operator: string, operand: string) => {
    const filter = parseFilter({ request: { [field]: { [operator]: operand } } });
    return filter.kind === 'leaf' ? filter.comparison.operand : undefined;
  };
  const long = 'x'.repeat(600);
  for (const field of ['user_id', 'model', 'model_used', 'prompt_id']) {
    t.equal(read(field, 'equals', long), 'x'.repeat(500), field);
    t.equal(read(field, 'not-equals', long), 'x'.repeat(500), field);
  }
  t.equal(read('user_id', 'contains', long), long);
  t.equal(read('path', 'equals', long), long, 'a path is stored whole');
  t.end();
});

t.test('timestamps are read to the millisecond, with their offset', (t) => {
  const read = (operand: unknown) => {
    const filter = parseFilter({ request: { created_at: { equals: operand } } });
    return filter.kind === 'leaf' ? filter.comparison.operand : undefined;
  };
  const noon = Date.UTC(2026, 0, 31, 12);
  t.equal(read('2026-01-31T12:00:00Z'), noon);
  t.equal(read('2026-01-31t12:00:00z'), noon);
  t.equal(read('2026-01-31T13:30:00.123+01:30'), noon + 123);
  t.equal(read('2026-01-31T11:59:59.999999Z'), noon - 1);
  t.equal(read('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29));
  t.equal(read('2016-12-31T23:59:60Z'), Date.UTC(2017, 0, 1));
  t.equal(read('0001-01-01T00:00:00Z'), -62_135_596_800_000);
  t.equal(read(noon), noon);
  t.equal(read(noon + 0.9), noon);
  t.equal(read(null), null);
  t.end();
});

t.test('a date means its first millisecond in UTC, for every operator', (t) => {
  for (const operator of ['equals', 'not-equals', 'gte', 'lte', 'gt', 'lt']) {
    for (const section of ['request', 'response', 'feedback']) {
      const filter = parseFilter({ [section]: { created_at: { [operator]: '2024-02-29' } } });
      t.match(filter, { comparison: { operator, operand: Date.UTC(2024, 1, 29) } }, `${section} ${operator}`);
    }
  }
  t.end();
});

t.test('operands are texts that Postgres can hold, and property names ignore case', (t) => {
  t.match(parseFilter({ request: { model: { equals: 'a\u0000b\ud800' } } }), {
    comparison: { operand: 'a\ufffdb\ufffd' },
  });
  t.match(parseFilter({ properties: { 'User-Tier': { equals: 'Pro' } } }), {
    field: { kind: 'property', name: 'user-tier' },
    comparison: { operand: 'Pro' },
  });
  t.end();
});
