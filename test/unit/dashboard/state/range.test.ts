import fc from 'fast-check';
import t from 'tap';
import { parseQuery, printQuery } from '#core/filter/query-text/mod.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import {
  DEFAULT_RANGE,
  PRESETS,
  rangeName,
  readRange,
  withRange,
} from '../../../../dashboard/state/range.ts';
import { filterArbitrary } from '../../../support/filter-arbitrary.ts';

const NOW = Date.parse('2026-11-23T15:04:05.678Z');
const DAY_MS = 86_400_000;
const RANGE = { from: NOW - DAY_MS, to: NOW };
const CREATED = `created:${rangeName(RANGE.from, RANGE.to)}`;

function isFaulty(q: string): boolean {
  try {
    parseQuery(q);
    return false;
  } catch {
    return true;
  }
}

t.test('any query with a range is the query and the range', async () => {
  const queries = filterArbitrary.map((filter) => printQuery(filter as FilterTree));
  fc.assert(
    fc.property(queries, (q) => {
      const both = printQuery(parseQuery(withRange(q, RANGE)));
      return (
        q === '' || both === printQuery({ left: parseQuery(q), operator: 'and', right: parseQuery(CREATED) })
      );
    }),
    { numRuns: 1_000 },
  );
});

t.test('a query with a fault has it with a range, too', async (t) => {
  const parts = fc.constantFrom(
    '(',
    ')',
    '"',
    '\\',
    ' ',
    'OR',
    '-',
    'user:',
    'status:500',
    'a',
    ':',
    '*',
    '\n',
    ',',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (some) => {
      const q = some.join('');
      return q.trim() === '' || isFaulty(q) === isFaulty(withRange(q, RANGE));
    }),
    { numRuns: 5_000 },
  );
  for (const q of ['status:500) OR (status:200', 'a) (b', '(a)) OR ((b)'])
    t.equal(isFaulty(withRange(q, RANGE)), true, q);
  t.equal(withRange('  ', RANGE), CREATED);
  t.equal(withRange('user:a', { from: 0, to: NOW }), 'user:a', 'all times are no condition');
});

t.test('a range of the address ends at the next whole minute, and has the length of its name', async (t) => {
  for (const { name, ms } of PRESETS) {
    const range = readRange(name, NOW);
    t.equal(range.to, Date.parse('2026-11-23T15:05:00Z'));
    t.equal(range.to - range.from, ms);
    t.match(range, { name, isRelative: true });
  }
  t.match(readRange('all', NOW), { from: 0, isRelative: true });
  for (const name of [undefined, '', 'soon', '..', '2026-11-02..2026-11-01', 'constructor'])
    t.match(readRange(name, NOW), { name: DEFAULT_RANGE }, String(name));
});

t.test('two moments are a range that stays', async () => {
  fc.assert(
    fc.property(fc.nat(4e12), fc.integer({ min: 1, max: 4e11 }), (from, ms) => {
      const range = readRange(rangeName(from, from + ms), NOW);
      return range.from === from && range.to === from + ms && !range.isRelative;
    }),
  );
});
