/** The SQL functions that compute what core/rollups does. */
import t from 'tap';
import { binOf } from '#core/rollups/histogram.ts';
import { testDatabase } from '../../../support/postgres.ts';
import { seededRandom } from '../../../support/random.ts';

const database = await testDatabase();
t.teardown(database.close);
const { sql } = database;

t.test('Postgres puts numbers into the same bins as core', async (t) => {
  const random = seededRandom(24);
  const values = [
    ...Array.from({ length: 100_003 }, (_, index) => index - 2),
    ...Array.from({ length: 20_000 }, () => Math.floor(2 ** (53 * random()))),
    2 ** 31 - 1,
    Number.MAX_SAFE_INTEGER,
  ];
  const rows = await sql<{ bin: number }[]>`
    select assay.histogram_bin(value) as bin
      from unnest(${values}::bigint[]) with ordinality as given (value, place) order by place`;
  const differing = values.filter((value, index) => binOf(value) !== rows[index]!.bin);
  t.same(differing, []);
});

t.test(
  'the speed of an answer is measured from its first token, and of answers that a provider generated',
  async (t) => {
    const [speeds] = await sql`
    select assay.milli_tokens_per_second(100, 3000, 1000, null)::int as "ofStream",
           assay.milli_tokens_per_second(100, 3000, null, null)::int as whole,
           assay.milli_tokens_per_second(100, 1000, 1000, null) as instant,
           assay.milli_tokens_per_second(100, null, null, null) as interrupted,
           assay.milli_tokens_per_second(0, 3000, null, null) as empty,
           assay.milli_tokens_per_second(null, 3000, null, null) as unknown,
           assay.milli_tokens_per_second(100, 3000, 1000, 'original') as cached,
           assay.milli_tokens_per_second(2147483647, 1, null, null) as extreme`;
    t.same(speeds, {
      ofStream: 50_000,
      whole: 33_333,
      instant: null,
      interrupted: null,
      empty: null,
      unknown: null,
      cached: null,
      extreme: '2147483647000000',
    });
  },
);
