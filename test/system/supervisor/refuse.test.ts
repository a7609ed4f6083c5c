import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createDoor } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { isReady, runMain, sentences, startAssay, temporaryDataDir, waitFor } from '../../support/assay.ts';
import { databaseFor } from '../../support/world.ts';

t.test('a second start on the same DATA_DIR reports that and exits with 1', async (t) => {
  const assay = await startAssay();
  t.teardown(() => assay.stop());
  const second = runMain([], { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: assay.dataDir });
  t.same(await second.ended, { code: 1, signal: null });
  t.same(sentences(second.stderr()), [`Assay already runs in DATA_DIR ${assay.dataDir}`]);
  t.ok(await isReady(assay.gatewayUrl), 'the first goes on');
});

t.test('a taken port is named with its variable, before anything else is started', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const port = String((taken.address() as AddressInfo).port);
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const run = runMain([], { GATEWAY_PORT: '0', API_PORT: port, DATA_DIR: dataDir.path });
  t.equal((await run.ended).code, 1);
  t.same(sentences(run.stderr()), [
    `Cannot listen on 127.0.0.1:${port}: another process has it; set API_PORT to another port`,
  ]);
  t.notOk(existsSync(join(dataDir.path, 'postgres')), 'no PostgreSQL was made');
});

t.test('a HOST that is no address of this machine is named, and not its port', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const run = runMain([], { HOST: '192.0.2.1', API_PORT: '0', DATA_DIR: dataDir.path });
  t.equal((await run.ended).code, 1);
  t.match(sentences(run.stderr()), [
    /^Cannot listen on 192\.0\.2\.1:0: .*EADDRNOTAVAIL.*; set HOST to an address of this machine$/,
  ]);
});

t.test('invalid variables are reported together, one line each', async (t) => {
  const run = runMain([], { GATEWAY_PORT: 'eighty', BOOTSTRAP_API_KEY: 'short' });
  t.equal((await run.ended).code, 1);
  t.same(sentences(run.stderr()), [
    'GATEWAY_PORT must be a whole number from 0 to 65535, but is "eighty"',
    'BOOTSTRAP_API_KEY must be 20 to 128 printable ASCII characters without spaces, but has 5 characters',
  ]);
});

t.test('a schema that is newer than the build is not touched', async (t) => {
  const database = await databaseFor(t);
  await database.sql`insert into assay.migrations (name, run_on) values ('9999_from_the_future', now())`;
  const newer =
    "The database's schema is newer than this build of Assay (it has 9999_from_the_future): run a newer build";
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const environment = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    GATEWAY_PORT: '0',
    API_PORT: '0',
  };
  for (const parameters of [
    [],
    ['gateway'],
    ['api'],
    ['ingest'],
    ['evaluators'],
    ['migrate'],
    ['keys', 'list'],
  ]) {
    const run = runMain(parameters, environment);
    t.equal((await run.ended).code, 1, `npm start ${parameters.join(' ')} ends with 1`);
    t.same(sentences(run.stderr()), [newer], 'and one sentence');
  }
});

t.test('a role run by itself needs a database with the schema', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const without = runMain(['gateway'], { DATA_DIR: dataDir.path });
  t.equal((await without.ended).code, 1);
  t.same(sentences(without.stderr()), ['The gateway run by itself needs DATABASE_URL']);

  const database = await databaseFor(t, { migrated: false });
  const environment = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    GATEWAY_PORT: '0',
    API_PORT: '0',
  };
  for (const role of ['gateway', 'api', 'ingest', 'evaluators']) {
    const run = runMain([role], environment);
    t.equal((await run.ended).code, 1, `the ${role} ends with 1`);
    t.match(sentences(run.stderr()), [
      /^The database's schema is older than this build.*run `npm start migrate`$/,
    ]);
  }
  const migration = runMain(['migrate'], environment);
  t.equal((await migration.ended).code, 0);
  t.match(migration.stdout(), /^Applied 0001_requests/);

  const role = runMain(['evaluators'], environment);
  await waitFor('the role to serve', () => role.stderr().includes('evaluators serve'));
  role.process.kill('SIGTERM');
  t.same(await role.ended, { code: 0, signal: null });
});

t.test('an unreachable database is reported in one sentence', async (t) => {
  const run = runMain(['evaluators'], { DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/none' });
  t.equal((await run.ended).code, 1);
  t.same(sentences(run.stderr()), [
    'PostgreSQL at 127.0.0.1:1 (DATABASE_URL) cannot be used: connect ECONNREFUSED 127.0.0.1:1',
  ]);
});

t.test('a PostgreSQL server that closes every new connection is reported as unreachable', async (t) => {
  const door = createDoor((socket) => socket.resume().end()).listen(0, '127.0.0.1');
  await once(door, 'listening');
  t.teardown(() => door.close());
  const { port } = door.address() as AddressInfo;
  const run = runMain(['ingest'], { DATABASE_URL: `postgres://nobody:nothing@127.0.0.1:${port}/none` });
  t.equal((await run.ended).code, 1);
  t.same(sentences(run.stderr()), [
    `PostgreSQL at 127.0.0.1:${port} (DATABASE_URL) cannot be used: no answer within 10000 ms`,
  ]);
});
