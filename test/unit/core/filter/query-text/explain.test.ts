import fc from 'fast-check';
import t from 'tap';
import { explain } from '#core/filter/query-text/mod.ts';
import { printQuery } from '#core/filter/query-text/print.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import { filterArbitrary } from '../../../../support/filter-arbitrary.ts';

const SEED = 20_261_125;
const LONG = 10_000;
const QUICK_MS = 400;
const kinds = (text: string) => explain(text).parts.map(({ kind, text }) => `${kind} ${text}`);

t.test(
  'the parts of any text, put together, are the text, and the mistake is where its error says',
  async () => {
    const queries = filterArbitrary.map((filter) => printQuery(filter as FilterTree));
    const broken = fc
      .tuple(queries, fc.nat(), fc.constantFrom('"', '(', ')', ':', ' OR ', '*', 'x:', '\\', '-'))
      .map(([query, at, piece]) => {
        const place = at % (query.length + 1);
        return query.slice(0, place) + piece + query.slice(place);
      });
    fc.assert(
      fc.property(fc.oneof(queries, broken, fc.string({ unit: 'binary' })), (text) => {
        const { parts, error, filter } = explain(text);
        if (parts.map((part) => part.text).join('') !== text) throw new Error(JSON.stringify(parts));
        for (const part of parts)
          if (text.slice(part.offset, part.offset + part.text.length) !== part.text || part.text === '')
            throw new Error(JSON.stringify(part));
        if ((error === null) !== (filter !== null)) throw new Error('neither or both');
        const wrong = parts.filter(({ isFault }) => isFault).map((part) => part.text);
        const expected = error === null ? '' : text.slice(error.offset, error.offset + error.length);
        if (wrong.join('') !== expected) throw new Error(`${wrong} is not ${expected}`);
      }),
      { numRuns: 6_000, seed: SEED },
    );
  },
);

t.test('fields, operators, values, texts, joins and parentheses are told apart', async (t) => {
  t.strictSame(kinds('-status:>=500 OR (user:"a b" refund)'), [
    'join -',
    'field status',
    'operator :>=',
    'value 500',
    'plain  ',
    'join OR',
    'plain  ',
    'paren (',
    'field user',
    'operator :',
    'quoted "a b"',
    'plain  ',
    'word refund',
    'paren )',
  ]);
});

t.test('a mistake is marked under its part alone', async (t) => {
  const { parts, error } = explain('user:a status:abc cost:>1');
  t.strictSame(
    parts.filter(({ isFault }) => isFault).map(({ text }) => text),
    ['abc'],
  );
  t.match(error?.rule, /^status must be a number/);
});

t.test('a query is said to search bodies when it does', async (t) => {
  for (const text of [
    'refund',
    'user:a -"refund policy"',
    '-(status:500 OR request.body:~x)',
    'response.body:x*',
  ])
    t.equal(explain(text).scansBodies, true, text);
  for (const text of ['', '*', '-*', 'user:a', 'response.choices.0.x:1', 'values.body:x', 'broken:'])
    t.equal(explain(text).scansBodies, false, text);
});

t.test('10,000 characters are explained within a moment', async (t) => {
  for (const piece of ['a ', '(', '"', 'user:(', '-', 'user:"a" ', 'x:', 'a OR ', '"" ']) {
    const text = piece.repeat(LONG / piece.length);
    const start = performance.now();
    explain(text);
    t.ok(performance.now() - start < QUICK_MS, piece);
  }
});
