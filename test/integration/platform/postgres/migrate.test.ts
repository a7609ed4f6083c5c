import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { refuseOldServer } from '#platform/postgres/migrate.ts';
import {
  checkSchema,
  connectPostgres,
  inOrganization,
  isStoreUnavailable,
  migrate,
} from '#platform/postgres/mod.ts';
import { testDatabase } from '../../../support/postgres.ts';
import { databaseFor } from '../../../support/world.ts';

t.test('an empty database gets every migration once when three processes migrate it together', async (t) => {
  const { url, sql } = await databaseFor(t, { migrated: false });
  await t.rejects(checkSchema(sql), { name: 'SchemaMismatchError', message: /older.*npm start migrate/ });
  const results = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  const applied = results.flatMap((result) => result.applied);
  t.match(applied[0], '0001_requests');
  t.equal(new Set(applied).size, applied.length, 'none twice');
  await checkSchema(sql);
  t.same(await migrate(url), { applied: [] });
});

t.test('a server that is too old is refused before anything is changed', async (t) => {
  t.throws(() => refuseOldServer(140_019), {
    name: 'SchemaMismatchError',
    message: 'PostgreSQL 14.19 (DATABASE_URL) is too old: Assay needs 15 or newer',
  });
  t.doesNotThrow(() => refuseOldServer(150_000));
});

t.test('a database that was restored without the role of the API is refused', async (t) => {
  const { url, sql } = await databaseFor(t);
  await migrate(url);
  // As pg_restore leaves it where there is no such role: with all tables, and without what names the role.
  await sql.unsafe('drop owned by assay_api');
  const message = /lacks the rights of the role assay_api, .*docs\/deployment\.md/;
  await t.rejects(checkSchema(sql), { name: 'SchemaMismatchError', message });
  await t.rejects(migrate(url), { name: 'SchemaMismatchError', message });
});

t.test('the migrations create objects in the schema assay alone', async (t) => {
  const { sql } = await databaseFor(t);
  const outside = await sql`
    select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not in ('assay', 'pg_catalog', 'information_schema', 'pg_toast')`;
  t.same([...outside], []);
});

t.test(
  'a database with a migration that this build does not know is refused, and left as it is',
  async (t) => {
    const { url, sql } = await databaseFor(t);
    await sql`insert into assay.migrations (name, run_on) values ('9999_later', now())`;
    const newer = {
      name: 'SchemaMismatchError',
      message: /newer than this build of Assay \(it has 9999_later\)/,
    };
    await t.rejects(checkSchema(sql), newer);
    await t.rejects(migrate(url), newer);
  },
);

t.test('a migration that fails leaves nothing behind, and the error names its file', async (t) => {
  const { url, sql } = await databaseFor(t, { migrated: false });
  await sql.unsafe('create schema assay; create table assay.online_evaluators ()');
  await t.rejects(migrate(url), {
    message:
      /^Cannot migrate the database: 0004_evaluators\.sql.*: relation "online_evaluators" already exists$/,
  });
  const [left] = await sql`select count(*)::int as tables from pg_tables where schemaname = 'assay'`;
  t.same(left, { tables: 1 }, 'of the three migrations before it nothing is left either');
  await sql`drop table assay.online_evaluators`;
  await migrate(url);
  await checkSchema(sql);
});

t.test(
  'the owner of a database migrates it with the right to create roles, and serves without',
  async (t) => {
    const { url, sql } = await databaseFor(t, { migrated: false });
    const user = `owner_${randomBytes(6).toString('hex')}`;
    const database = new URL(url).pathname.slice(1);
    const superuser = await databaseFor(t);
    const dropUser = () => sql.unsafe(`drop owned by ${user} cascade; drop role ${user}`).catch(() => {});
    await sql.unsafe(`create role ${user} login password 'secret'`);
    t.teardown(dropUser);
    await sql.unsafe(`alter database ${database} owner to ${user}`);
    const own = Object.assign(new URL(url), { username: user, password: 'secret' }).href;
    await t.rejects(migrate(own), {
      message: /permission denied to create role; docs\/deployment\.md says which rights its user needs$/,
    });
    // Where another user of the server has made the role, as here, its owner grants it.
    await superuser.sql.unsafe(`grant assay_api to ${user}; alter role ${user} createrole`);
    await migrate(own);
    await superuser.sql.unsafe(`alter role ${user} nocreaterole`);
    const confined = connectPostgres({
      url: own,
      max: 1,
      role: 'assay_api',
      applicationName: 'test',
      statementTimeoutMs: 5_000,
    });
    t.same([...(await confined`select request_id from assay.requests`)], []);
    await confined.end({ timeout: 1 });
  },
);

t.test('a user who may not create schemas migrates into one that was made for it', async (t) => {
  const { url, sql } = await databaseFor(t, { migrated: false });
  const user = `guest_${randomBytes(6).toString('hex')}`;
  const own = Object.assign(new URL(url), { username: user, password: 'secret' }).href;
  const superuser = await databaseFor(t);
  await sql.unsafe(`create role ${user} login createrole password 'secret'`);
  t.teardown(() => sql.unsafe(`drop owned by ${user} cascade; drop role ${user}`).catch(() => {}));
  await superuser.sql.unsafe(`grant assay_api to ${user}`);
  await t.rejects(migrate(own), {
    message: /permission denied for database \S+; docs\/deployment\.md says which rights its user needs$/,
  });
  await sql.unsafe(`create schema assay authorization ${user}`);
  await migrate(own);
  await checkSchema(sql);
});

t.test('a migration that is missing before an applied one is refused', async (t) => {
  const { url, sql } = await databaseFor(t);
  await sql`delete from assay.migrations where name = '0003_entry_parts'`;
  await t.rejects(migrate(url), {
    message: /0003_entry_parts is missing, but \S+, which follows it, has been applied/,
  });
});

t.test('migrating gives up after ten seconds on a server that closes every connection', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  await t.rejects(migrate(`postgres://a:b@127.0.0.1:${port}/c`), {
    message: new RegExp(`^Cannot migrate the database: PostgreSQL at 127.0.0.1:${port} .*cannot be used`),
  });
});

t.test('partitions are created for UTC weeks, whatever the session’s time zone', async (t) => {
  const { sql } = await databaseFor(t);
  await sql.begin(async (tx) => {
    await tx`set local timezone = 'Pacific/Auckland'`;
    await tx`select assay.ensure_partitions('2026-03-01T23:59:59.999Z')`;
    await tx`select assay.ensure_partitions('2026-03-02T00:00:00Z')`;
    await tx`select assay.ensure_partitions('2026-03-04T12:00:00Z')`;
  });
  const rows = await sql<{ name: string; bounds: string }[]>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_class c where c.relname like 'requests_w%' and c.relispartition and c.relkind = 'r' order by 1`;
  t.same(
    rows.map((row) => row.name),
    ['requests_w20260223', 'requests_w20260302'],
  );
  t.match(rows[0]?.bounds, /FROM \('2026-02-23 00:00:00\+00'\) TO \('2026-03-02 00:00:00\+00'\)/);
});

t.test('concurrent calls of ensure_partitions create each partition once', async (t) => {
  const { sql } = await databaseFor(t);
  await Promise.all(
    Array.from({ length: 5 }, () => sql`select assay.ensure_partitions('2026-06-01T00:00:00Z')`),
  );
  const [count] =
    await sql`select count(*)::int as partitions from pg_class where relname = 'requests_w20260601'`;
  t.equal(count?.partitions, 1);
});

t.test('the role assay_api sees the organization of its transaction, and no other', async (t) => {
  const { url, sql, close } = await testDatabase();
  const api = connectPostgres({
    url,
    max: 2,
    role: 'assay_api',
    applicationName: 'test',
    statementTimeoutMs: 5_000,
  });
  t.teardown(async () => {
    await api.end({ timeout: 1 });
    await close();
  });
  const [acme, globex] = [
    '11111111-1111-4111-8111-111111111111',
    '22222222-2222-4222-8222-222222222222',
  ] as const;
  await sql`select assay.ensure_partitions('2026-06-01T00:00:00Z')`;
  for (const organizationId of [acme, globex]) {
    await sql`
      insert into assay.requests
        (organization_id, created_at, request_id, source, path, provider, model, status, is_stream, truncated)
      values (${organizationId}, '2026-06-01T00:00:00Z', 'r', 'gateway', '/', 'OPENAI', 'm', 200, false, false)`;
    await sql`
      insert into assay.request_bodies (organization_id, created_at, request_id, request_text, response_text)
      values (${organizationId}, '2026-06-01T00:00:00Z', 'r', '{}', '{}')`;
  }
  const seen = await inOrganization(api, acme, (tx) => tx`select organization_id from assay.requests`);
  t.same([...seen], [{ organization_id: acme }], 'whatever the statement asks for');
  const bodies = await inOrganization(
    api,
    acme,
    (tx) => tx`select organization_id from assay.request_bodies`,
  );
  t.same([...bodies], [{ organization_id: acme }]);
  t.same(
    [...(await api`select 1 from assay.requests`)],
    [],
    'nothing at all outside of a transaction of one',
  );
  const changed = await inOrganization(
    api,
    acme,
    (tx) => tx`update assay.requests set feedback_rating = true returning organization_id`,
  );
  t.same([...changed], [{ organization_id: acme }], 'it changes its own only');
  await t.rejects(
    api`select 1 from assay.requests_w20260601`,
    { code: '42501' },
    'partitions are no way around',
  );
  await t.rejects(api`select hash from assay.api_keys`, { code: '42501' }, 'hashes are not its business');
  await t.rejects(
    inOrganization(
      api,
      acme,
      (tx) => tx`
      insert into assay.request_properties (organization_id, pair_hash, created_at, request_id)
      values (${globex}, 1, '2026-06-01T00:00:00Z', 'r')`,
    ),
    { code: '42501' },
    'nor can it write into another organization',
  );
});

t.test('a statement that takes too long is cancelled by the server', async (t) => {
  const { url, close } = await testDatabase({ migrated: false });
  const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 50 });
  t.teardown(async () => {
    await sql.end({ timeout: 1 });
    await close();
  });
  await t.rejects(sql`select pg_sleep(5)`, { code: '57014' });
});

t.test('isStoreUnavailable is true for an unreachable server, and false for a wrong statement', async (t) => {
  const { sql } = await databaseFor(t, { migrated: false });
  const codeOf = (work: Promise<unknown>) => work.then(() => null, isStoreUnavailable);
  const nowhere = connectPostgres({
    url: 'postgres://a:b@127.0.0.1:1/c',
    max: 1,
    applicationName: 't',
    statementTimeoutMs: 1_000,
  });
  t.equal(await codeOf(nowhere`select 1`), true, 'refused');
  await nowhere.end({ timeout: 0 });
  t.equal(await codeOf(sql`select 1 from nothing`), false, 'no such table');
  t.equal(await codeOf(sql`select pg_terminate_backend(pg_backend_pid())`), true, 'cut off by the operator');
});
