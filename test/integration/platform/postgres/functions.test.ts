/** The files of SQL functions: which there are, and when they are applied. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { checkSchema, migrate, type Sql } from '#platform/postgres/mod.ts';
import { databaseFor } from '../../../support/world.ts';

const DIRECTORY = new URL('../../../../platform/postgres/functions/', import.meta.url);

/**
 * The revision and the text (SHA-256, the first 12 digits) of each file as last released. If a file differs, raise the revision
 * in its first line and write both here: a gateway of an older build then knows that the database is newer.
 */
const RELEASED: Record<string, [revision: number, digest: string]> = {
  audit: [4, 'c77884bce067'],
  browser_sessions: [1, '4846d85b4b5f'],
  cache: [3, '8c5e3055b646'],
  changes: [1, '3c76ad2a4962'],
  dead_letters: [1, '837d24840f6b'],
  erasure: [10, 'fff914a1ef41'],
  judge_calls: [2, '084b2958dd81'],
  keys: [1, '6f67b94cd449'],
  limit_counters: [2, 'f7b3ab76c8b0'],
  limit_requests: [2, 'd50e307653c3'],
  limit_reservations: [2, '838ec4e9c975'],
  limit_windows: [1, 'c3198abc25c7'],
  partitions: [1, 'b9b63a3ea851'],
  patterns: [1, 'b550e157cc38'],
  prompts: [1, '696428a4d377'],
  rollups: [1, '70c0e1309979'],
  sessions: [3, 'ebf96a399138'],
  system: [1, 'b082dbc3d73f'],
};

const files = readdirSync(DIRECTORY).map((file) => ({
  name: file.replace(/\.sql$/, ''),
  text: readFileSync(new URL(file, DIRECTORY), 'utf8'),
}));

t.test('a file of functions that has changed has another revision', async (t) => {
  const found = files.map(({ name, text }) => [
    name,
    [
      Number(/^-- Revision (\d+)\n/.exec(text)?.[1]),
      createHash('sha256').update(text).digest('hex').slice(0, 12),
    ],
  ]);
  t.same(Object.fromEntries(found), RELEASED);
});

t.test('each function of the schema has its text in one file, and no file has another', async (t) => {
  const { sql } = await databaseFor(t);
  const inFiles = files.flatMap(({ text }) =>
    [...text.matchAll(/^create or replace function assay\.(\w+)/gm)].map((found) => found[1]),
  );
  const rows = await sql<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace = 'assay'::regnamespace`;
  t.same(inFiles.sort(), rows.map(({ name }) => name).sort());
});

/** Makes the function return a constant, as one of an older build that differs from this one's. */
async function makeStale(sql: Sql): Promise<void> {
  await sql.unsafe(`create or replace function assay.limit_beat(process text) returns integer
                    language plpgsql as $$ begin return -1; end $$`);
}

async function beat(sql: Sql): Promise<number> {
  const [row] = await sql<{ beat: number }[]>`select assay.limit_beat('a gateway') as beat`;
  return row?.beat ?? Number.NaN;
}

t.test('a database that node-pg-migrate migrated gets the functions of this build', async (t) => {
  const { url, sql } = await databaseFor(t);
  await sql`drop table assay.function_files`;
  await makeStale(sql);
  await t.rejects(checkSchema(sql), { message: /older than this build .*functions\/limit_requests/ });
  const results = await Promise.all([migrate(url), migrate(url)]);
  t.same(
    results.flatMap(({ applied }) => applied).sort(),
    files.map(({ name }) => `functions/${name}`).sort(),
  );
  t.equal(await beat(sql), 1);
  await checkSchema(sql);
});

t.test(
  'a file of functions is applied again when its text or its revision differs, and only then',
  async (t) => {
    const { url, sql } = await databaseFor(t);
    await makeStale(sql);
    t.same(await migrate(url), { applied: [] });
    t.equal(await beat(sql), -1, 'a file that has not changed is left alone');
    for (const older of [{ digest: 'of another text' }, { revision: 0 }]) {
      await makeStale(sql);
      await sql`update assay.function_files set ${sql(older)} where name = 'limit_requests'`;
      await t.rejects(checkSchema(sql), { message: /older .*\(it lacks functions\/limit_requests\)/ });
      t.same(await migrate(url), { applied: ['functions/limit_requests'] });
      t.equal(await beat(sql), 1);
    }
  },
);

t.test(
  'functions of a later revision, or of a file that this build lacks, are refused and left as they are',
  async (t) => {
    const { url, sql } = await databaseFor(t);
    for (const later of [
      { name: 'limit_requests', revision: 2_000_000_000 },
      { name: 'later', revision: 1 },
    ]) {
      await sql`delete from assay.function_files where name = ${later.name}`;
      await sql`insert into assay.function_files ${sql({ ...later, digest: 'x' })}`;
      const newer = {
        name: 'SchemaMismatchError',
        message: `The database's schema is newer than this build of Assay (it has functions/${later.name} of revision ${later.revision}): run a newer build`,
      };
      await t.rejects(checkSchema(sql), newer);
      await t.rejects(migrate(url), newer);
      await sql`delete from assay.function_files where name = ${later.name}`;
      await migrate(url);
    }
  },
);
