import fc from 'fast-check';
import t from 'tap';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { databaseFor } from '../../../support/world.ts';

const database = await databaseFor(t);
const sql = connectPostgres({
  url: database.url,
  max: 1,
  applicationName: 'arrays',
  statementTimeoutMs: 5_000,
});
t.teardown(() => sql.end({ timeout: 1 }));

/** Characters that Postgres cannot hold as text: NUL, and lone surrogates. */
const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && value.isWellFormed());
const special = fc.constantFrom(
  '',
  'NULL',
  'null',
  '{}',
  '{',
  '}',
  ',',
  '"',
  '\\',
  '\\"',
  ' ',
  'a b',
  '\n',
  '[0:1]={',
);

t.test('any texts in an array are read back from Postgres unchanged', async (t) => {
  const property = fc.asyncProperty(fc.array(fc.oneof(text, special, fc.constant(null))), async (values) => {
    const [row] = await sql`select ${values}::text[] as back, to_jsonb(${values}::text[]) as seen`;
    t.same(row!.back, values);
    t.same(row!.seen, values, 'and Postgres has seen the same');
  });
  await fc.assert(property, { numRuns: 300 });
});

t.test('arrays of every supported type are read back as their JavaScript values', async (t) => {
  const when = new Date('2026-02-03T04:05:06.789Z');
  const odd = { a: '"\\', b: [1] };
  const id = '01234567-89ab-4cde-8f01-23456789abcd';
  const [row] = await sql`
    select ${'{t,f}'}::bool[] as bools,
      ${'{"\\\\x00ff5c"}'}::bytea[] as bytes,
      ${[1, -2]}::int2[] as int2s, ${[1, -2]}::int4[] as int4s,
      ${[1.5, -0.25]}::float4[] as float4s, ${[0.1, 1e300]}::float8[] as float8s,
      ${['9007199254740993']}::int8[] as int8s, ${['0.10']}::numeric[] as numerics,
      ${['a']}::varchar[] as varchars, ${[id]}::uuid[] as uuids,
      ${[when.toISOString()]}::timestamptz[] as times,
      ${[odd, null] as never}::json[] as jsons, ${[odd] as never}::jsonb[] as jsonbs,
      ${[[1, 2], [3, 4]]}::int4[] as table, ${[]}::text[] as none, null::text[] as missing`;
  t.same(row, {
    bools: [true, false],
    bytes: [Buffer.from([0, 255, 92])],
    int2s: [1, -2],
    int4s: [1, -2],
    float4s: [1.5, -0.25],
    float8s: [0.1, 1e300],
    int8s: ['9007199254740993'],
    numerics: ['0.10'],
    varchars: ['a'],
    uuids: [id],
    times: [when],
    jsons: [odd, null],
    jsonbs: [odd],
    table: [
      [1, 2],
      [3, 4],
    ],
    none: [],
    missing: null,
  });
});
