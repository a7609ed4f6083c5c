import fc from 'fast-check';
import t from 'tap';
import { FIXED_SECTIONS } from '#core/filter/fields.ts';
import { facetOf, fieldNames, operatorsOf } from '#core/filter/query-text/completion/describe.ts';
import { completeAt, type Option, valueOptions } from '#core/filter/query-text/completion/mod.ts';
import {
  conditionOf,
  findNamed,
  MAX_QUERY_LENGTH,
  parseQuery,
  QueryTextError,
} from '#core/filter/query-text/mod.ts';
import { printQuery } from '#core/filter/query-text/print.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import { filterArbitrary } from '../../../../../support/filter-arbitrary.ts';

const SEED = 20_261_124;
const NAMES = ['property.Plan', 'property.user tier', 'scores.helpful', 'scores.a "b"'];
const LONG = 10_000;
const QUICK_MS = 250;

/** Whatever may have to follow what is not finished. */
const TAILS = ['', 'null', '1', 'user', 'user:a', 'x:1', ':1'];

function isReadable(text: string): boolean {
  try {
    parseQuery(text);
    return true;
  } catch (error) {
    if (!(error instanceof QueryTextError)) throw error;
    if (error.rule === 'the parenthesis is not closed') return isReadable(`${text})`);
    return false;
  }
}

const apply = (text: string, { from, to, insert }: Option) => text.slice(0, from) + insert + text.slice(to);
const queries = filterArbitrary.map((filter) => printQuery(filter as FilterTree));
const labels = (text: string, offset = text.length) =>
  completeAt(text, offset, NAMES)?.options.map(({ label }) => label) ?? [];

t.test('every completion behind the beginning of any query can be finished to a query', async (t) => {
  let applied = 0;
  fc.assert(
    fc.property(queries, fc.nat(), fc.nat(), (query, cut, choice) => {
      const beginning = query.slice(0, cut % (query.length + 1));
      const options = completeAt(beginning, beginning.length, NAMES)?.options ?? [];
      if (options.length === 0) return;
      const option = options[choice % options.length]!;
      const text = apply(beginning, option);
      applied += 1;
      if (!TAILS.some((tail) => isReadable(text + tail)))
        throw new Error(`${JSON.stringify(beginning)} became ${JSON.stringify(text)}`);
      if (!option.isUnfinished && !isReadable(text))
        throw new Error(`${JSON.stringify(text)} is said to be finished`);
    }),
    { numRuns: 6_000, seed: SEED },
  );
  t.ok(applied > 4_000, `${applied} were applied`);
});

t.test('any text is completed at any place, without an error, inside of the text', async () => {
  const pieces = fc
    .array(
      fc.constantFrom(
        'user',
        ':',
        '"',
        '\\',
        '(',
        ')',
        '-',
        ' ',
        'OR',
        'status',
        '>=',
        '5',
        'has:',
        'property.',
        '\n',
        '\ud800',
        'a.b',
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(pieces, fc.string({ unit: 'binary' })), fc.nat(), (text, cut) => {
      const offset = cut % (text.length + 1);
      for (const { from, to } of completeAt(text, offset, NAMES)?.options ?? [])
        if (!(from >= 0 && from <= to && to <= text.length)) throw new Error(`${from} to ${to}`);
    }),
    { numRuns: 6_000, seed: SEED },
  );
});

t.test('a value from the data is written so that it is that value, whatever is in it', async () => {
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a b', '*', '"', 'null', '1..2', '-a', 'OR', ''),
  );
  fc.assert(
    fc.property(values, fc.constantFrom('user', 'property.a b', 'values.x'), (value, name) => {
      const field = findNamed(name)!;
      const before = 'status:500 ';
      const text = `${before}${name === 'property.a b' ? 'property."a b"' : name}:`;
      const [option] = valueOptions({ from: text.length, to: text.length }, field, [{ value, detail: '' }]);
      const tree = parseQuery(apply(text, option!).slice(before.length));
      const { operand, operator } = conditionOf(tree)!;
      if (operand !== value || operator !== 'equals') throw new Error(JSON.stringify(tree));
    }),
    { numRuns: 3_000, seed: SEED },
  );
});

t.test('at the beginning are fields by their short names, and what negates and groups', async (t) => {
  const found = labels('');
  t.strictSame(found.slice(0, 3), ['id', 'created', 'user']);
  t.ok(found.includes('property.Plan') && found.includes('has') && found.includes('NOT'));
  t.notOk(found.includes('OR'), 'there is nothing to join');
  t.ok(labels('user:a ').includes('OR'));
  t.notOk(labels('user:a OR ').includes('OR'));
});

t.test(
  'a name is completed from its beginning and from its inside, with quotation marks if it needs them',
  async (t) => {
    t.strictSame(labels('status:500 lat'), ['latency']);
    t.equal(labels('tok')[0], 'tokens');
    t.ok(labels('tok').includes('prompt_tokens'));
    const [tier] = completeAt('property.user', 13, NAMES)!.options;
    t.equal(tier!.insert, 'property."user tier":');
    const [place] = completeAt('response.choices.0.x', 20)!.options;
    t.equal(place!.insert, 'response.choices.0.x:');
    t.strictSame(
      labels('-sco'),
      ['scores.helpful', 'scores.a "b"', 'scores.'].toSorted(
        (a, b) => Number(b === 'scores.') - Number(a === 'scores.'),
      ),
    );
  },
);

t.test('behind has: are names without a colon', async (t) => {
  const options = completeAt('has:feed', 8)!.options;
  t.equal(apply('has:feed', options[0]!), 'has:feedback');
});

t.test('a new name takes the place of the old one and keeps its value', async (t) => {
  const text = 'use:anna status:500';
  const [user] = completeAt(text, 3)!.options;
  t.equal(apply(text, user!), 'user:anna status:500');
});

t.test('behind the colon are the operators of the type, then its values', async (t) => {
  t.strictSame(labels('status:').slice(0, 4), ['>', '>=', '<', '<=']);
  t.ok(labels('status:').includes('429'));
  t.strictSame(labels('feedback:'), ['!=', 'true', 'false', 'null']);
  t.ok(labels('user:').includes('~'));
  t.notOk(labels('user:').includes('>'));
  t.strictSame(labels('status:>='), ['>', '>=', '<', '<=', '!=', '('], 'another operator');
  t.strictSame(labels('latency:10s'), ['10s..']);
  t.strictSame(labels('user:(').includes('('), false);
});

t.test('values are asked for by the name that facets have, with the text before the cursor', async (t) => {
  const asked = (text: string) => {
    const { values, prefix } = completeAt(text, text.length)!;
    return [values?.facet, prefix];
  };
  t.strictSame(asked('status:500 user:an'), ['user', 'an']);
  t.strictSame(asked('user:"anna s'), ['user', 'anna s']);
  t.strictSame(asked('property."user tier":(pro OR te'), ['property:user tier', 'te']);
  t.strictSame(asked('model:!=gp'), ['model', 'gp']);
  t.strictSame(asked('model_used:gp'), ['model', 'gp']);
  t.strictSame(asked('api_key:b6'), ['api_key', 'b6']);
  t.strictSame(asked('source:pl'), ['source', 'pl']);
  t.strictSame(asked('-error_code:(a OR rate'), ['error_code', 'rate']);
  t.strictSame(asked('user:~an'), [undefined, 'an'], 'a part of a text is no value');
  t.strictSame(asked('session:s'), [undefined, 's']);
});

t.test('a cursor right before a word, or in a value of no field, has no completion', async (t) => {
  t.equal(completeAt('user:a', 0), null);
  t.equal(completeAt('nonsense:a', 10), null);
});

t.test('every field and every type is described', async (t) => {
  const names = fieldNames();
  for (const { name, description } of names) t.ok(description.length > 5 && description.length < 70, name);
  const fixed = [...FIXED_SECTIONS.values()].reduce((sum, fields) => sum + fields.size, 0);
  t.equal(names.filter(({ isBeginning }) => !isBeginning).length, fixed);
  for (const type of ['text', 'uuid', 'number', 'timestamp', 'boolean', 'value'] as const)
    t.ok(operatorsOf(type).length > 0, type);
  t.equal(facetOf({ section: 'scores', name: 'x' }), null);
});

t.test('10,000 characters are completed within a moment', async (t) => {
  for (const piece of ['a ', '(', '"', '\\"', 'user:(', '-', 'user:"a" ', 'x:', 'property."', 'a.', '""']) {
    const text = piece.repeat(LONG / piece.length);
    const start = performance.now();
    completeAt(text, text.length, NAMES);
    completeAt(text, text.length >> 1, NAMES);
    t.ok(performance.now() - start < QUICK_MS, piece);
  }
  t.ok(MAX_QUERY_LENGTH > LONG);
});
