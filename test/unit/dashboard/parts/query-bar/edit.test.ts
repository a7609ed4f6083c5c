import fc from 'fast-check';
import t from 'tap';
import { parseQuery, printQuery } from '#core/filter/query-text/mod.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import {
  addCondition,
  conditionsOn,
  type FieldValue,
  hasCondition,
  removeCondition,
  withoutField,
} from '../../../../../dashboard/parts/query-bar/edit.ts';
import { filterArbitrary, sampleRecords } from '../../../../support/filter-arbitrary.ts';
import { type JsonFilter, passes } from '../../../../support/filter-oracle.ts';

const SEED = 20_261_123;
const RUNS = 1_500;
const RECORDS = 40;

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    '*',
    'a*b',
    '"',
    'a "b" c',
    'a\nb',
    '\\',
    'null',
    'true',
    '(a)',
    '-a',
    'a OR b',
    'like:a',
  ),
  fc.constantFrom('..', '1..2', '>=5', '~a', 'a:b', '\ud800', '\u0000', '50%', '日本語'),
);
const conditions: fc.Arbitrary<[field: string, value: FieldValue]> = fc.oneof(
  fc.tuple(
    fc.constantFrom('user', 'model', 'response.model', 'session', 'property.Plan', 'property.a "b"'),
    texts,
  ),
  fc.tuple(fc.constantFrom('property.', 'property.__proto__'), texts),
  fc.tuple(fc.constantFrom('status', 'scores.quality', 'cost'), fc.constantFrom(200, 404, 500, -1.5, 0)),
  fc.tuple(fc.constantFrom('values.x', 'request.a.b'), fc.oneof(texts, fc.integer(), fc.boolean())),
  fc.tuple(fc.constant('feedback'), fc.boolean()),
  fc.tuple(fc.constantFrom('user', 'status', 'feedback', 'property.Plan'), fc.constant(null)),
);
const queries = filterArbitrary.map((filter) => printQuery(filter as FilterTree));
const leaf = ([field, value]: [string, FieldValue], exclude: boolean) =>
  parseQuery(addCondition('', field, value, { exclude }));
const json = (value: unknown) => JSON.stringify(value);

t.test('a value of any text is added to any query as the condition that all must hold, too', async () => {
  fc.assert(
    fc.property(queries, conditions, fc.boolean(), (q, condition, exclude) => {
      const [field, value] = condition;
      // Values that stand there already are the next test's.
      fc.pre(conditionsOn(q, field).length === 0);
      // Nor is a query of all requests kept.
      fc.pre(!/^[*\s]*$/.test(q));
      const before = parseQuery(q);
      const added = parseQuery(addCondition(q, field, value, { exclude }));
      const expected = { left: before, operator: 'and', right: leaf(condition, exclude) };
      if (json(added) !== json(expected)) throw new Error(`${json(added)} is not ${json(expected)}`);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

t.test('a condition of one value has the field, the value and the operator that were given', async () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (value, exclude) => {
      const operator = exclude ? 'not-equals' : 'equals';
      const one = json(leaf(['user', value], exclude));
      if (one !== json({ request: { user_id: { [operator]: value } } })) throw new Error(one);
      const other = json(leaf([`property.${value}`, value], exclude));
      if (other !== json({ properties: { [value]: { [operator]: value } } })) throw new Error(other);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

t.test('what is added is there, twice is as once, and what is removed is gone', async () => {
  fc.assert(
    fc.property(queries, fc.array(conditions, { maxLength: 4 }), fc.boolean(), (query, first, exclude) => {
      let q = query;
      for (const [field, value] of first) {
        q = addCondition(q, field, value, { exclude });
        if (!hasCondition(q, field, value, { exclude }))
          throw new Error(`${q} lacks ${field} ${json(value)}`);
        if (hasCondition(q, field, value, { exclude: !exclude })) throw new Error(`${q} has both`);
        if (addCondition(q, field, value, { exclude }) !== q) throw new Error(`${q} takes it twice`);
      }
      for (const [field, value] of first) {
        q = removeCondition(q, field, value, { exclude });
        parseQuery(q);
        if (hasCondition(q, field, value, { exclude })) throw new Error(`${q} keeps ${field} ${json(value)}`);
        if (removeCondition(q, field, value, { exclude }) !== q) throw new Error(`${q} changes again`);
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

t.test(
  'removing what was added to a query without that field finds the same requests as before',
  async () => {
    const records = sampleRecords(RECORDS, SEED).map(({ record }) => record);
    fc.assert(
      fc.property(queries, conditions, fc.boolean(), (q, [field, value], exclude) => {
        fc.pre(conditionsOn(q, field).length === 0);
        const added = addCondition(q, field, value, { exclude });
        for (const back of [removeCondition(added, field, value, { exclude }), withoutField(added, field)]) {
          const [one, other] = [parseQuery(q), parseQuery(back)] as [JsonFilter, JsonFilter];
          if (!records.every((record) => passes(record, one) === passes(record, other)))
            throw new Error(`${back} is not ${q}`);
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
  },
);

const ADDED: [q: string, field: string, value: FieldValue, exclude: boolean, result: string][] = [
  ['', 'status', 500, false, 'status:500'],
  ['*', 'status', 500, false, 'status:500'],
  ['  status:>=500 ', 'user', 'anna', false, 'status:>=500 user:anna'],
  ['status:500 OR user:a', 'model', 'x', false, '(status:500 OR user:a) model:x'],
  // One of several values
  ['user:a', 'user', 'b', false, 'user:(a OR b)'],
  ['status:500 AND user:(a OR b)  cost:>1', 'user', 'c', false, 'status:500 AND user:(a OR b OR c)  cost:>1'],
  ['user:a OR user:b', 'user', 'c', false, 'user:(a OR b OR c)'],
  ['property.plan:a', 'property.Plan', 'b', false, 'property.Plan:(a OR b)'],
  ['user:a', 'user', null, false, 'user:(a OR null)'],
  // Narrower than what is there
  ['user:a*', 'user', 'ab', false, 'user:a* user:ab'],
  ['has:user', 'user', 'a', false, 'has:user user:a'],
  ['-user:a', 'user', 'b', false, '-user:a user:b'],
  // Excluded
  ['user:a', 'user', 'a', true, '-user:a'],
  ['-user:a', 'user', 'a', false, 'user:a'],
  ['user:(a OR b) status:500', 'user', 'a', true, 'user:b status:500 -user:a'],
  ['-user:a', 'user', 'b', true, '-user:a -user:b'],
  ['status:500', 'user', null, true, 'status:500 has:user'],
  // A mistake
  ['status:abc', 'user', 'a', false, 'user:a'],
  ['status:500', 'nonsense', 'a', false, 'status:500'],
];

t.test('a click on a value changes as little of the text as it can', async (t) => {
  for (const [q, field, value, exclude, result] of ADDED)
    t.equal(
      addCondition(q, field, value, { exclude }),
      result,
      `${q} and ${field} ${json(value)} ${exclude}`,
    );
});

const REMOVED: [q: string, field: string, value: FieldValue, exclude: boolean, result: string][] = [
  ['user:a', 'user', 'a', false, ''],
  ['status:500 AND user:a cost:>1', 'user', 'a', false, 'status:500 cost:>1'],
  ['user:a AND cost:>1', 'user', 'a', false, 'cost:>1'],
  ['user:(a OR b)', 'user', 'a', false, 'user:b'],
  ['-user:(a OR b) cost:>1', 'user', 'a', true, '-user:b cost:>1'],
  ['user:a cost:>1 user:a', 'user', 'a', false, 'cost:>1'],
  ['(user:a cost:>1)', 'user', 'a', false, '(user:a cost:>1)'],
  ['status:abc', 'user', 'a', false, 'status:abc'],
];

t.test('a condition is removed with its AND, and leaves the other values of its field', async (t) => {
  for (const [q, field, value, exclude, result] of REMOVED)
    t.equal(removeCondition(q, field, value, { exclude }), result, q);
});

t.test('a query without a field keeps its other conditions', async (t) => {
  t.equal(withoutField('user:a status:500 -user:b has:user', 'user'), 'status:500');
  t.equal(withoutField('user:a* status:500', 'user'), 'user:a* status:500');
});
