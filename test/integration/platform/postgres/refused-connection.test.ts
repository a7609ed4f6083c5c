import { randomBytes } from 'node:crypto';
import t from 'tap';
import { connectPostgres, isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { databaseFor } from '../../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;
const ROLE = `refused_${randomBytes(6).toString('hex')}`;
const PASSWORD = 'right';

await sql.unsafe(`create role ${ROLE} login password '${PASSWORD}'`);
t.teardown(() => sql.unsafe(`drop role ${ROLE}`).catch(() => {}));

function addressWith(changes: { password?: string; pathname?: string }): string {
  return Object.assign(new URL(database.url), { username: ROLE, password: PASSWORD, ...changes }).href;
}

async function errorOf(url: string, work: (sql: Sql) => Promise<unknown>): Promise<unknown> {
  const asking = connectPostgres({ url, max: 1, applicationName: 'refused', statementTimeoutMs: 5_000 });
  try {
    await work(asking);
    return null;
  } catch (error) {
    return error;
  } finally {
    await asking.end({ timeout: 1 });
  }
}

const ask = (asking: Sql) => asking`select 1`;

t.test('a server that admits no connection is unavailable, whatever its reason', async (t) => {
  t.equal(await errorOf(addressWith({}), ask), null);
  const cases = [
    { what: 'another password', code: '28P01', url: addressWith({ password: 'former' }) },
    { what: 'no such database', code: '3D000', url: addressWith({ pathname: '/being_restored' }) },
  ];
  for (const { what, code, url } of cases) {
    const error = await errorOf(url, ask);
    t.match(error, { code }, what);
    t.equal(isStoreUnavailable(error), true, what);
  }
  await sql.unsafe(`alter role ${ROLE} nologin`);
  const locked = await errorOf(addressWith({}), ask);
  t.match(locked, { code: '28000' });
  t.equal(isStoreUnavailable(locked), true, 'a role that may not log in');
  await sql.unsafe(`alter role ${ROLE} login`);
});

t.test(
  'a session that the server ended for its age is unavailable, a refused statement is not',
  async (t) => {
    const ended = await errorOf(addressWith({}), (asking) =>
      asking.begin(async (tx) => {
        await tx`set local idle_in_transaction_session_timeout = 50`;
        await new Promise((resolve) => setTimeout(resolve, 500));
        await tx`select 1`;
      }),
    );
    t.equal(isStoreUnavailable(ended), true);
    const refused = await errorOf(addressWith({}), (asking) => asking`select * from no_such_table`);
    t.match(refused, { code: '42P01', severity: 'ERROR' });
    t.equal(isStoreUnavailable(refused), false);
  },
);
