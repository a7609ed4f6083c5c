import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
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
    alter role ${role} set extra_float_digits = 0`);
  t.teardown(() => sql.unsafe(`drop role ${role}`).catch(() => {}));
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  const own = connectTo(t, url, 0);
  const [values] = await own`
    select '2026-11-28T12:00:00Z'::timestamptz as at, '\\x00ff'::bytea as bytes, 0.1::float8 + 0.2::float8 as number,
           interval '1 day 1 hour' as span, current_setting('transaction_isolation') as isolation,
           current_setting('lock_timeout') as lock, current_setting('timezone') as zone`;
  t.same(values, {
    at: new Date('2026-11-28T12:00:00Z'),
    bytes: Buffer.from([0, 0xff]),
    number: 0.30000000000000004,
    span: '1 day 01:00:00',
    isolation: 'read committed',
    lock: '0',
    zone: 'UTC',
  });
  await t.resolves(own`select pg_sleep(0.5)`, 'no limit of time is none, as for migrations');
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
