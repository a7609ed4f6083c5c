import t from 'tap';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { databaseFor } from '../../../support/world.ts';

const NAME = 'shrinking';
/** An idle connection is closed after seven tenths of it. */
const SILENCE_MS = 1_000;

t.test('a pool that is used by one statement after the other keeps one connection', async (t) => {
  const { url } = await databaseFor(t);
  const shared = { url, statementTimeoutMs: 0 };
  const observer = connectPostgres({ ...shared, max: 1, applicationName: 'observer' });
  const sql = connectPostgres({ ...shared, max: 4, applicationName: NAME, silenceMs: SILENCE_MS });
  t.teardown(() => Promise.all([observer.end(), sql.end()]));
  const connections = async () => {
    const [row] = await observer<[{ count: number }]>`
      select count(*)::integer as count from pg_stat_activity where application_name = ${NAME}`;
    return row.count;
  };
  await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.2)`));
  t.equal(await connections(), 4, 'statements at once have a connection each');
  await waitFor('the others to be closed', async () => {
    await sql`select 1`;
    return (await connections()) === 1;
  });
  t.same(await Promise.all([sql`select 1 as one`, sql`select 1 as one`]), [[{ one: 1 }], [{ one: 1 }]]);
});
