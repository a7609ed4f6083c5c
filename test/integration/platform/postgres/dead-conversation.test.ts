/** Bytes received before a connection dies must not reach the statements of its next session. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../../supervisor/postgres/server.ts';
import { waitFor } from '../../../support/assay.ts';
import { postgresPid } from '../../../support/postgres.ts';
import { tether } from '../../../support/tether.ts';

const CONNECTIONS = 4;
const ROUNDS = 6;

/** A server of this file's own, which can be killed. */
const dataDir = mkdtempSync(join(tmpdir(), 'assay-test-postgres-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));

async function startServer(port?: number): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    dataDir,
    log: createLogger({ role: 'test', level: 'silent' }),
    settings: { fsync: 'off' },
    ...(port === undefined ? {} : { port }),
  });
  tether({ pid: postgresPid(dataDir), ended: server.exited, signal: 'QUIT' });
  return server;
}

let server = await startServer();
t.teardown(() => server.stop());

async function restartAfter(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void> {
  const { port, exited } = server;
  process.kill(postgresPid(dataDir), signal);
  await exited;
  // The sessions of a killed server keep its memory until they notice; no other server starts before.
  await waitFor('the server starts again', async () => {
    try {
      server = await startServer(port);
      return true;
    } catch {
      return false;
    }
  });
}

function connect(applicationName: string, max: number): Sql {
  return connectPostgres({ url: server.url, max, applicationName, statementTimeoutMs: 20_000 });
}

/** Runs `work` on a connection of its own, which nothing that happened before can have touched. */
async function apart<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect('apart', 1);
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const sessions = (sql: Sql, state: string) =>
  sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'dying' and wait_event = ${state}`;

/** Ways for sessions to die while they work. */
const DEATHS: Record<string, () => Promise<void>> = {
  'an administrator terminates them': () =>
    apart(async (sql) => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dying'`;
    }),
  'one of them is killed, and the server restarts them all': () =>
    apart(async (sql) => {
      const [first] = await sessions(sql, 'PgSleep');
      process.kill(first!.pid, 'SIGKILL');
    }),
  'the server is told to quit at once and started again': () => restartAfter('SIGQUIT'),
  'the server is killed and started again': () => restartAfter('SIGKILL'),
};

/** Statements under way when the sessions die: a plain one, one with values, half-sent rows, a transaction. */
const STATEMENTS: ((sql: Sql) => Promise<unknown>)[] = [
  async (sql) => await sql`select pg_sleep(15)`,
  async (sql) => await sql`select pg_sleep(${15}::float8), ${'value'}::text`,
  // Rows are sent when 8 kB of them have come together: 5 are on their way when the sixth is waited for.
  async (sql) =>
    await sql`select repeat('x', 9000), case when i > 5 then pg_sleep(15) end from generate_series(1, 9) i`,
  async (sql) => await sql.begin(async (tx) => await tx`select pg_sleep(15)`),
];

for (const [death, die] of Object.entries(DEATHS)) {
  t.test(`when ${death}, running statements fail and later ones get their own results`, async (t) => {
    const sql = connect('dying', CONNECTIONS);
    t.teardown(() => sql.end({ timeout: 1 }));
    for (let round = 0; round < ROUNDS; round += 1) {
      const ending = Promise.allSettled(
        Array.from({ length: CONNECTIONS }, (_, place) =>
          STATEMENTS[(round + place) % STATEMENTS.length]!(sql),
        ),
      );
      await waitFor('all connections are at work', () =>
        apart(async (watching) => (await sessions(watching, 'PgSleep')).length === CONNECTIONS),
      );
      await die();
      for (const end of await ending) {
        t.ok(end.status === 'rejected' && isStoreUnavailable(end.reason), 'its statement fails');
      }
      await waitFor('the server is back', () =>
        apart(async (asking) => await asking`select 1`).then(
          () => true,
          () => false,
        ),
      );
      const numbers = Array.from({ length: 4 * CONNECTIONS }, (_, number) => number);
      // Long enough that every connection gets some.
      const answers = await Promise.allSettled(
        numbers.map(async (number) => [
          ...(await sql`select ${number}::int as number, pg_sleep(0.02) is null as slept`),
        ]),
      );
      t.same(
        answers,
        numbers.map((number) => ({ status: 'fulfilled', value: [{ number, slept: false }] })),
      );
    }
  });
}

t.test('a copy whose connection dies before its confirmation is rejected', async (t) => {
  const sql = connect('dying', 1);
  t.teardown(() => sql.end({ timeout: 1 }));
  await sql`create table copied (line text)`;
  await sql.unsafe(`
      create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(15); return new; end';
      create trigger slow before insert on copied for each row execute function slow()`);
  const copy = await sql`copy copied from stdin`.writable();
  const end = finished(copy).then(
    () => 'confirmed',
    (error: unknown) => error,
  );
  copy.end('one\n');
  await waitFor('the copy is being stored', () =>
    apart(async (watching) => (await sessions(watching, 'PgSleep')).length === 1),
  );
  await DEATHS['an administrator terminates them']!();
  const first = await Promise.race([end, sleep(5_000, 'no end within five seconds')]);
  t.ok(isStoreUnavailable(first), String(first));
  t.same(await sql`select count(*)::int as lines from copied`, [{ lines: 0 }]);
});
