import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { checkSchema, connectPostgres, migrate, type Sql } from '#platform/postgres/mod.ts';
import { databaseFor } from '../../../support/world.ts';

const database = await databaseFor(t);
const { sql } = database;

function connectTo(t: Test, url: string, statementTimeoutMs = 5_000): Sql {
  const own = connectPostgres({ url, max: 1, applicationName: 'settings', statementTimeoutMs });
  t.teardown(() => own.end({ timeout: 1 }));
  return own;
}

t.test('defaults of the user change neither waiting, nor time limits, nor the form of values', async (t) => {
  const role = `settings_${randomBytes(6).toString('hex')}`;
  await sql.unsafe(`
    create role ${role} login superuser password 'x';
    alter role ${role} set default_transaction_isolation = serializable;
    alter role ${role} set statement_timeout = '200ms';
    alter role ${role} set lock_timeout = '100ms';
    alter role ${role} set timezone = 'Asia/Kolkata';
    alter role ${role} set datestyle = 'SQL, DMY';
    alter role ${role} set intervalstyle = 'sql_standard';
    alter role ${role} set bytea_output = 'escape';
    alter role ${role} set extra_float_digits = 0;
    alter role ${role} set array_nulls = off;
    alter role ${role} set row_security = off;
    alter role ${role} set idle_session_timeout = '1s';
    alter role ${role} set synchronous_commit = off`);
  t.teardown(() => sql.unsafe(`drop role ${role}`).catch(() => {}));
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  const own = connectTo(t, url, 0);
  const [values] = await own`
    select '2026-11-28T12:00:00Z'::timestamptz as at, '\\x00ff'::bytea as bytes, 0.1::float8 + 0.2::float8 as number,
           interval '1 day 1 hour' as span, current_setting('transaction_isolation') as isolation,
           current_setting('lock_timeout') as lock, current_setting('timezone') as zone,
           ${'{1,null}'}::text::int8[] as nulls, current_setting('row_security') as policies,
           current_setting('idle_session_timeout') as idle, current_setting('synchronous_commit') as commits`;
  t.same(values, {
    at: new Date('2026-11-28T12:00:00Z'),
    bytes: Buffer.from([0, 0xff]),
    number: 0.30000000000000004,
    span: '1 day 01:00:00',
    isolation: 'read committed',
    lock: '0',
    zone: 'UTC',
    nulls: ['1', null],
    policies: 'on',
    idle: '0',
    commits: 'on',
  });
  await t.resolves(own`select pg_sleep(0.5)`, 'no limit of time is none, as for migrations');
});

t.test('an address that says how commits wait is followed', async (t) => {
  const url = Object.assign(new URL(database.url), { search: '?synchronous_commit=local' }).href;
  const own = connectTo(t, url);
  t.same(await own`select current_setting('synchronous_commit') as commits`, [{ commits: 'local' }]);
  await t.resolves(checkSchema(own));
});

t.test('migrations take longer than a transaction of their user may', async (t) => {
  const role = `hurried_${randomBytes(6).toString('hex')}`;
  await sql.unsafe(`
    create role ${role} login superuser password 'x';
    alter role ${role} set transaction_timeout = '1s'`);
  t.teardown(() => sql.unsafe(`drop role ${role}`).catch(() => {}));
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  let migrating: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    // The lock of migrations, as another process has it that is at them.
    await tx`select pg_advisory_xact_lock(${0x6173736179})`;
    migrating = migrate(url);
    migrating.catch(() => {});
    await sleep(2_000);
  });
  await t.resolves(migrating);
});

/** A pooler in miniature: it passes on who connects to what, and no setting. */
async function startForgettingPooler(t: Test, url: URL): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(url.port), url.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.once('data', (startup) => {
      const words = startup.subarray(8).toString().split('\0');
      const kept = ['user', 'database'].flatMap((name) => [name, words[words.indexOf(name) + 1]!]);
      const body = Buffer.from(`${kept.join('\0')}\0\0`);
      const head = Buffer.alloc(8);
      head.writeInt32BE(8 + body.length);
      startup.copy(head, 4, 4, 8);
      upstream.write(Buffer.concat([head, body]));
      client.pipe(upstream).pipe(client);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return Object.assign(new URL(url), { port: `${(server.address() as AddressInfo).port}` }).href;
}

t.test('a pooler that drops the settings of connections is refused', async (t) => {
  const pooled = await startForgettingPooler(t, new URL(database.url));
  const message = /ignores settings of connections \(.*jit.*\): connect to PostgreSQL itself/;
  await t.rejects(checkSchema(connectTo(t, pooled)), { message });
  await t.rejects(migrate(pooled), { message });
});

t.test('an empty database that cannot hold every text is refused', async (t) => {
  const name = `assay_test_${randomBytes(6).toString('hex')}`;
  await sql.unsafe(
    `create database ${name} template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`,
  );
  t.teardown(() => sql.unsafe(`drop database ${name} with (force)`));
  const url = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
  await t.rejects(migrate(url), { name: 'SchemaMismatchError', message: /encoding SQL_ASCII.*needs UTF8/ });
});

t.test('a server that takes no writes, as a standby, is refused', async (t) => {
  const role = `reader_${randomBytes(6).toString('hex')}`;
  await sql.unsafe(`
    create role ${role} login superuser password 'x';
    alter role ${role} set default_transaction_read_only = on`);
  t.teardown(() => sql.unsafe(`drop role ${role}`).catch(() => {}));
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  const message = /\(DATABASE_URL\) is read-only, as a standby is: connect to the primary$/;
  await t.rejects(checkSchema(connectTo(t, url)), { message });
  await t.rejects(migrate(url), { message });
});
