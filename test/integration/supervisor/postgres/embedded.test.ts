import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { startEmbeddedPostgres } from '../../../../supervisor/postgres/server.ts';
import { isAlive, temporaryDataDir, waitFor } from '../../../support/assay.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const MODULE = new URL('../../../../supervisor/postgres/server.ts', import.meta.url).href;

async function asking<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 5_000 });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

t.test('the embedded cluster is created once, keeps its data, and has Unicode letter case', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const first = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.match(first.url, /^postgres:\/\/assay:[\w-]{32}@127\.0\.0\.1:\d+\/postgres$/);
  t.equal(statSync(join(dataDir.path, 'postgres.password')).mode & 0o777, 0o600);
  await asking(first.url, (sql) => sql`create table kept as select lower('ÀÉÎ') as word`);
  await first.stop();
  t.notOk(existsSync(join(dataDir.path, 'postgres', 'postmaster.pid')));

  const second = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.same(await asking(second.url, async (sql) => [...(await sql`select word from kept`)]), [{ word: 'àéî' }]);
  await second.stop();
});

t.test('the embedded PostgreSQL refuses a connection without the password', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const server = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  const url = new URL(server.url);
  url.password = 'guess';
  await t.rejects(
    asking(url.href, (sql) => sql`select 1`),
    { code: '28P01' },
  );
  await server.stop();
});

t.test('a server whose supervisor was killed is stopped by the next start', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const program = join(t.testdir(), 'supervisor.mjs');
  writeFileSync(
    program,
    `import { startEmbeddedPostgres } from ${JSON.stringify(MODULE)};
     const log = { debug() {}, info() {}, warn() {}, error() {} };
     await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir.path)}, log });
     console.log('up');`,
  );
  const supervisor = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(supervisor.stdout, 'data');
  supervisor.kill('SIGKILL');
  await once(supervisor, 'exit');
  const orphan = Number(
    readFileSync(join(dataDir.path, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
  );
  t.ok(isAlive(orphan), 'it outlived its supervisor');
  const server = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.notOk(isAlive(orphan));
  t.equal((await asking(server.url, (sql) => sql`select 1`)).length, 1);
  await server.stop();
});

t.test(
  'a postmaster.pid with the id of another process is ignored, and that process left alone',
  async (t) => {
    const dataDir = temporaryDataDir();
    t.teardown(dataDir.remove);
    const first = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
    const file = join(dataDir.path, 'postgres', 'postmaster.pid');
    const left = readFileSync(file, 'utf8');
    await first.stop();
    const bystander = spawn('sleep', ['60']);
    t.teardown(() => bystander.kill());
    writeFileSync(file, left.replace(/^\d+/, String(bystander.pid)));
    const second = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
    t.ok(isAlive(bystander.pid ?? 0));
    await second.stop();
  },
);

t.test(
  'an empty postmaster.pid, as a power cut leaves it, prevents a start only while the cluster is used',
  { skip: !existsSync('/proc/self/cwd') },
  async (t) => {
    const dataDir = temporaryDataDir();
    t.teardown(dataDir.remove);
    const first = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
    await asking(first.url, (sql) => sql`create table kept ()`);
    const cluster = join(dataDir.path, 'postgres');
    const file = join(cluster, 'postmaster.pid');
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL');
    await first.exited;
    writeFileSync(file, '');
    const session = spawn('sleep', ['60'], { cwd: cluster });
    t.teardown(() => session.kill());
    await t.rejects(startEmbeddedPostgres({ dataDir: dataDir.path, log }), {
      message: new RegExp(`names no process, and a PostgreSQL \\(process .*${session.pid}.*\\) may use`),
    });
    session.kill();
    await once(session, 'exit');
    const second = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
    t.equal((await asking(second.url, (sql) => sql`select from kept`)).length, 0);
    await second.stop();
  },
);

t.test('a start waits until the sessions of a killed server have ended', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const first = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  const file = join(dataDir.path, 'postgres', 'postmaster.pid');
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const sql = connectPostgres({ url: first.url, max: 1, applicationName: 'test', statementTimeoutMs: 5_000 });
  t.teardown(() => sql.end({ timeout: 1 }));
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  process.kill(session!.pid, 'SIGSTOP');
  process.kill(postmaster, 'SIGKILL');
  await first.exited;
  setTimeout(() => process.kill(session!.pid, 'SIGCONT'), 500);
  const second = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.equal((await asking(second.url, (again) => again`select 1`)).length, 1);
  await second.stop();
});

t.test('an interrupted first start of the embedded PostgreSQL does not prevent the next one', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  mkdirSync(join(dataDir.path, 'postgres.new', 'base'), { recursive: true });
  const server = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.notOk(existsSync(join(dataDir.path, 'postgres.new')));
  await server.stop();
});

t.test('a start that follows one killed in the middle of initdb makes its cluster undisturbed', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const program = join(t.testdir(), 'supervisor.mjs');
  writeFileSync(
    program,
    `import { startEmbeddedPostgres } from ${JSON.stringify(MODULE)};
     const log = { debug() {}, info() {}, warn() {}, error() {} };
     await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir.path)}, log });`,
  );
  const unfinished = () => readdirSync(dataDir.path).filter((name) => name.startsWith('postgres.new'));
  const isWriting = () => unfinished().some((name) => existsSync(join(dataDir.path, name, 'base', '1')));
  const supervisor = spawn(process.execPath, [program], { stdio: 'ignore' });
  await waitFor('initdb to write', isWriting);
  supervisor.kill('SIGKILL');
  await once(supervisor, 'exit');
  const server = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.equal((await asking(server.url, (sql) => sql`select 1`)).length, 1);
  await server.stop();
  const later = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.same(unfinished(), [], 'a later start removes what the killed one left');
  await later.stop();
});

t.test('a first start that found its disk full does not prevent the next one', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  writeFileSync(join(dataDir.path, 'postgres.password'), '');
  const server = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
  t.equal((await asking(server.url, (sql) => sql`select 1`)).length, 1);
  await server.stop();
  writeFileSync(join(dataDir.path, 'postgres.password'), '');
  await t.rejects(startEmbeddedPostgres({ dataDir: dataDir.path, log }), {
    message: /postgres\.password does not hold the password of .*: restore it from a backup$/,
  });
});

t.test('a cluster of another PostgreSQL version is refused with one sentence', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  mkdirSync(join(dataDir.path, 'postgres'));
  writeFileSync(join(dataDir.path, 'postgres', 'PG_VERSION'), '17\n');
  await t.rejects(startEmbeddedPostgres({ dataDir: dataDir.path, log }), {
    message: /was made by PostgreSQL 17, but this build of Assay contains 18: dump it/,
  });
});

t.test('a directory that is no cluster is refused with one sentence', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  mkdirSync(join(dataDir.path, 'postgres'));
  await t.rejects(startEmbeddedPostgres({ dataDir: dataDir.path, log }), {
    message:
      /\/postgres is no PostgreSQL cluster, it has no PG_VERSION: restore it from a backup, or move it away/,
  });
});

t.test(
  'a cluster of another user is refused with both users',
  { skip: process.getuid?.() !== 0 && 'only root can give it away' },
  async (t) => {
    const dataDir = temporaryDataDir();
    t.teardown(dataDir.remove);
    const cluster = join(dataDir.path, 'postgres');
    const { stop } = await startEmbeddedPostgres({ dataDir: dataDir.path, log });
    await stop();
    chownSync(cluster, 0, 0);
    await t.rejects(startEmbeddedPostgres({ dataDir: dataDir.path, log }), {
      message:
        /\/postgres belongs to user 0, but PostgreSQL runs as user [1-9]\d* here, as after a copy without owners: chown -R/,
    });
  },
);
