/** Connections that died without a word, as after a failover or behind a firewall that forgot them. */
import t, { type Test } from 'tap';
import { connectPostgres, createListener, isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { tcpProxy } from '../../../support/tcp-proxy.ts';
import { databaseFor, silentLog } from '../../../support/world.ts';

const SILENCE_MS = 1_000;
const database = await databaseFor(t);

async function setUp(t: Test, max = 3) {
  const proxy = await tcpProxy(database.url);
  const sql = connectPostgres({
    url: proxy.url,
    max,
    applicationName: 'silent',
    statementTimeoutMs: 10_000,
    silenceMs: SILENCE_MS,
  });
  t.teardown(async () => {
    await sql.end({ timeout: 0 });
    await proxy.close();
  });
  return { proxy, sql };
}

t.test('statements on a dead connection are rejected, and the next ones succeed', async (t) => {
  const { proxy, sql } = await setUp(t);
  const ask = () => sql`select 1 as one`;
  await Promise.all([ask(), ask(), ask()]);
  proxy.strand();
  const begunAt = performance.now();
  const waiting = await Promise.allSettled(Array.from({ length: 30 }, ask));
  t.ok(performance.now() - begunAt >= SILENCE_MS / 2);
  t.equal(waiting[0]!.status, 'rejected');
  const causes = waiting.filter((end) => end.status === 'rejected').map(({ reason }) => reason);
  t.ok(causes.every(isStoreUnavailable), 'as what can be tried again');
  await waitFor('an answer', () =>
    ask().then(
      () => true,
      (error) => {
        if (!isStoreUnavailable(error)) throw error;
        return false;
      },
    ),
  );
});

t.test('a transaction on a dead connection is rejected, and the server releases its locks', async (t) => {
  const { proxy, sql } = await setUp(t);
  await database.sql`create table public.claimed (id int primary key, by text)`;
  const claimed = Promise.withResolvers<void>();
  const transaction = sql.begin(async (tx) => {
    await tx`insert into public.claimed values (1, 'the stranded')`;
    proxy.strand();
    claimed.resolve();
    await tx`insert into public.claimed values (2, 'the stranded')`;
  });
  const end = transaction.catch((error: unknown) => error);
  await claimed.promise;
  await database.sql`insert into public.claimed values (1, 'another')`;
  t.ok(isStoreUnavailable(await end));
  t.same([...(await database.sql`select * from public.claimed`)], [{ id: 1, by: 'another' }]);
});

t.test('a long statement is not cut by the silence limit while others get responses', async (t) => {
  const { sql } = await setUp(t);
  const slow = sql`select pg_sleep(0.7), 'done' as said`;
  for (let turn = 0; turn < 5; turn += 1) await sql`select 1`;
  t.match([...(await slow)], [{ said: 'done' }]);
});

t.test('an idle connection is closed, and the next statement opens another', async (t) => {
  const { sql } = await setUp(t, 1);
  const pid = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;
  const first = await pid();
  const isThere = async () =>
    (await database.sql`select 1 from pg_stat_activity where pid = ${first}`).length > 0;
  await waitFor('it to be closed', async () => !(await isThere()));
  t.not(await pid(), first);
});

function listenTo(t: Test, sql: Sql) {
  const heard: string[] = [];
  const listening = createListener({ sql, log: silentLog, pulseMs: SILENCE_MS / 3 }).listen({
    channel: 'rest',
    onNotify: (payload) => heard.push(payload),
    onListening: () => heard.push('listening'),
    onLost: () => heard.push('lost'),
  });
  t.teardown(() => listening.stop());
  return heard;
}

t.test('a listening connection stays open without notifications', async (t) => {
  const { sql } = await setUp(t);
  const heard = listenTo(t, sql);
  await waitFor('it to listen', () => heard.length > 0);
  const restsUntil = performance.now() + 3 * SILENCE_MS;
  await waitFor('three silences to pass', () => performance.now() > restsUntil);
  await database.sql.notify('rest', 'still there');
  await waitFor('it to hear', () => heard.length > 1);
  t.same(heard, ['listening', 'still there']);
});

t.test('a dead listening connection is replaced', async (t) => {
  const { proxy, sql } = await setUp(t);
  const heard = listenTo(t, sql);
  await waitFor('it to listen', () => heard.length > 0);
  proxy.strand();
  await database.sql.notify('rest', 'not heard');
  await waitFor('it to listen again', () => heard.length > 2);
  await database.sql.notify('rest', 'there again');
  await waitFor('it to hear', () => heard.length > 3);
  t.same(heard, ['listening', 'lost', 'listening', 'there again']);
});
