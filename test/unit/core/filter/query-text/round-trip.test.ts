import fc from 'fast-check';
import t from 'tap';
import { parseFilter } from '#core/filter/mod.ts';
import { MAX_QUERY_LENGTH, parseQuery, QueryTextError } from '#core/filter/query-text/mod.ts';
import { readQueryText } from '#core/filter/query-text/parse.ts';
import { printQuery } from '#core/filter/query-text/print.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import { filterArbitrary, sampleRecords } from '../../../../support/filter-arbitrary.ts';
import { complement, type JsonFilter, passes } from '../../../../support/filter-oracle.ts';

const FILTERS = 20_000;
const SEED = 20_260_504;
const TEXTS = 8_000;
const RECORDS = 10;

/** A filter with `{}` as "all", and every number as the text that tells -0 from 0. */
function normal(filter: JsonFilter): string {
  return JSON.stringify(filter, (_, value: unknown) => {
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return 'all';
    return Object.is(value, -0) ? '-0' : value;
  });
}
const print = (filter: JsonFilter) => printQuery(filter as FilterTree);
const parse = (text: string) => parseQuery(text) as JsonFilter;

// Drawn once for both: drawing takes longer than what is tested.
const filters = fc.sample(filterArbitrary, { numRuns: FILTERS, seed: SEED });

t.test('20,000 random filters are printed as texts that read back as exactly the same tree', async (t) => {
  let groups = 0;
  for (const filter of filters) {
    const text = print(filter);
    const back = parse(text);
    if (normal(back) !== normal(filter)) t.fail(`${text} reads as ${normal(back)}`);
    if (print(back) !== text) t.fail(`${text} prints as ${print(back)}`);
    // A text that a link can carry.
    encodeURIComponent(text);
    groups += Number(text.includes('('));
  }
  t.ok(groups > FILTERS / 20, `${groups} have parentheses`);
});

t.test(
  'NOT before any of 20,000 random filters finds exactly the records that the filter does not',
  async (t) => {
    const records = sampleRecords(RECORDS, SEED).map(({ record }) => record);
    let partial = 0;
    for (const [index, filter] of filters.entries()) {
      const text = `${['-', 'NOT ', 'NOT NOT -'][index % 3]}(${print(filter)})`;
      const negated = parse(text);
      parseFilter(negated);
      const found = records.filter((record) => passes(record, filter));
      const others = records.filter((record) => passes(record, negated));
      const isSplit = records.every((record) => found.includes(record) !== others.includes(record));
      if (!isSplit) t.fail(`${text} is ${normal(negated)}`);
      const opposite = complement(filter);
      if (opposite !== null && normal(opposite) !== normal(negated))
        t.fail(`${normal(negated)} is not ${normal(opposite)}`);
      partial += Number(found.length > 0 && others.length > 0);
    }
    t.ok(partial > FILTERS / 10, `${partial} tell records apart`);
  },
);

/** Pieces that texts are made of, right and wrong. */
const PIECES = [
  ...[
    'status',
    'model',
    'user',
    'property.',
    'values.',
    'response.',
    'request.body',
    'has',
    'created',
    'cost',
    'x',
  ],
  ...[
    ':',
    ':>',
    ':>=',
    ':~',
    '>',
    '<',
    '!=',
    '=',
    '*',
    '..',
    'like:',
    'not-gte:',
    '-',
    ' ',
    '  ',
    '(',
    ')',
    '"',
    '\\',
  ],
  ...[
    'OR',
    'AND',
    'NOT',
    'or',
    '5',
    '-5',
    '1e9',
    '10s',
    '$1',
    'null',
    'true',
    '2026-11-01',
    'abc',
    '"a b"',
    'é😀',
  ],
  ...['\u0000', '\ud800', '\n', '\u2028', '__proto__', '%', '_'],
];

t.test(
  'any text is either read as a filter, which prints to a fixed point, or refused with a place in it',
  async (t) => {
    let readable = 0;
    const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((parts) => parts.join(''));
    const changed = fc
      .tuple(filterArbitrary, fc.nat(), fc.nat(3), fc.constantFrom(...PIECES))
      .map(([filter, at, cut, piece]) => {
        const text = print(filter);
        const place = at % (text.length + 1);
        return text.slice(0, place) + piece + text.slice(place + cut);
      });
    const texts = fc.oneof(pieces, changed, fc.string({ unit: 'binary', maxLength: 40 }));
    fc.assert(
      fc.property(texts, (text) => {
        const { filter, error, tokens } = readQueryText(text);
        let end = 0;
        for (const { offset, length } of tokens) {
          if (offset < end || length < 1 || offset + length > text.length)
            throw new Error(`tokens of ${JSON.stringify(text)}`);
          end = offset + length;
        }
        if (error !== null) {
          const isInside = error.offset >= 0 && error.offset + error.length <= text.length;
          if (!isInside || !error.message.includes(error.rule)) throw new Error(error.message);
          return;
        }
        readable += 1;
        parseFilter(filter);
        const printed = printQuery(filter!);
        if (printQuery(parseQuery(printed)) !== printed) throw new Error(`${text} prints as ${printed}`);
        if (normal(parse(printed)) !== normal(filter as JsonFilter))
          throw new Error(`${text} reads otherwise as ${printed}`);
      }),
      { numRuns: TEXTS, seed: SEED },
    );
    t.ok(readable > TEXTS / 5, `${readable} of ${TEXTS} are queries`);
  },
);

t.test(
  'a query of the greatest length is read, or refused, in time that grows with its length',
  async (t) => {
    const fill = (piece: string) => piece.repeat(Math.floor(MAX_QUERY_LENGTH / piece.length));
    for (const piece of [
      'a ',
      'a',
      '(',
      ')',
      '-',
      'NOT ',
      '"',
      '"" ',
      '\\',
      '"\\',
      'x:',
      '..',
      '*',
      '* ',
      '1',
      ' ',
      'OR ',
      'a OR ',
      '-(',
      'user:(',
      '"a"b',
      '"a" ',
      'values.a',
      'user:*',
      'created:1..',
    ]) {
      const { error } = readQueryText(fill(piece));
      t.ok(error === null || error instanceof QueryTextError, JSON.stringify(piece));
    }
    t.throws(() => parseQuery(`${fill('a')}a`), {
      code: 'invalid_filter',
      message:
        /^q at offset 65536, length 1 \("a"\): a query must have at most 65536 characters, but has 65537$/,
    });
  },
);
