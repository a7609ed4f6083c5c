import fc from 'fast-check';
import t from 'tap';
import { parseExactJson, storableJson } from '#core/json/mod.ts';
import { databaseFor } from '../../../support/world.ts';

const database = await databaseFor(t);

/** JSON texts whose cast to jsonb Postgres refuses. */
const ODD: [string, string][] = [
  ['NUL', '{"a":"x\\u0000y","\\u0000":1}'],
  ['lone surrogates', '{"a":"\\ud83d","b":"\\udc00x"}'],
  ['a number beyond double precision', '{"a":1e400000,"b":-1e999}'],
  ['100,000 levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['a member called __proto__', '{"__proto__":{"x":1},"constructor":{"prototype":2}}'],
];

t.test('storableJson reports a value in which something had to be replaced as not whole', async (t) => {
  const isWhole = (text: string) => storableJson(JSON.parse(text)).isWhole;
  for (const text of [
    '{"a":"\\u0000"}',
    '{"\\ud83d":1}',
    '{"a":[1e400]}',
    `{"a":${'['.repeat(600)}${']'.repeat(600)}}`,
  ])
    t.equal(isWhole(text), false, text.slice(0, 20));
  for (const text of ['{"a":"\\\\u0000"}', '{"a":"\\u0001"}', '{"a":[1e300]}', '{"__proto__":{"x":1}}'])
    t.equal(isWhole(text), true, text);
});

for (const [what, text] of ODD) {
  t.test(`a body with ${what} becomes text that Postgres takes as jsonb`, async (t) => {
    const { text: storable } = storableJson(JSON.parse(text));
    await t.resolves(database.sql`select ${storable}::text::jsonb`);
    t.equal(({} as { x?: number }).x, undefined);
  });
}

t.test('exact numbers stay as they were written, whatever else has to be replaced', async (t) => {
  const number = '12345678901234567890';
  const deep = `${'['.repeat(600)}${']'.repeat(600)}`;
  const within = `${'['.repeat(511)}${number}${']'.repeat(511)}`;
  const stored = (text: string) => storableJson(parseExactJson(text));
  t.strictSame(stored(`{"a":${within}}`), { text: `{"a":${within}}`, isWhole: true });
  t.match(stored(`{"a":${number},"b":${deep}}`).text, `{"a":${number},"b":[`);
  t.strictSame(stored(`{"a":-${number},"b":"\\u0000"}`), {
    text: `{"a":-${number},"b":"\ufffd"}`,
    isWhole: false,
  });
});

t.test(
  'Postgres takes numbers as they were written, those beyond double precision as the largest double',
  async (t) => {
    const long = `0.${'1'.repeat(40_000)}`;
    const small = `1.2345678901234567890e-30000`;
    const { text } = storableJson(
      parseExactJson(`{"a":1e400000,"b":-1e999,"c":${'9'.repeat(200_000)},"d":${long},"e":${small}}`),
    );
    t.match(text, /^\{"a":1e\+308,"b":-1e\+308,"c":1e\+308,"d":0\.1/);
    await t.resolves(database.sql`select ${text}::text::jsonb`);
  },
);

t.test('ordinary values are written as JSON.stringify writes them', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme-ascii' }), (value) => {
      t.same(storableJson(value), { text: JSON.stringify(value), isWhole: true });
    }),
    { numRuns: 1_000 },
  );
});

t.test('any JSON value that a parser can return is accepted as jsonb', async (t) => {
  const values = fc
    .sample(fc.jsonValue({ stringUnit: 'binary' }), 500)
    .map((value) => storableJson(value).text);
  await t.resolves(database.sql`select x::jsonb from unnest(${values}::text[]) as x`);
});
