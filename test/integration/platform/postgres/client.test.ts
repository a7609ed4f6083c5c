import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { inOrganization, noteReading, type TransactionSql, withClient } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { seededRandom } from '../../../support/random.ts';
import { createWorld } from '../../../support/world.ts';

const ROUNDS = 2_000;
/** A transaction of the race sleeps for at most so long. */
const LONGEST_SLEEP_MS = 2;
/** Rounds that nobody disturbs, from which the race learns how long one takes on this machine. */
const MEASURED = 40;
const SEED = 20_261_123;

const world = await createWorld(t);
const { organizationId } = await world.organization();
const sending = world.connect({ applicationName: 'cancels' });
const gone = new AssayError('client_closed_request', 'gone');

type Work<T> = (tx: TransactionSql) => Promise<T>;

/** Runs a transaction for a client that disconnects with `signal`, in a call of which this was noted. */
function callOf<T>(
  signal: AbortSignal,
  noted: readonly boolean[],
  work: Work<T>,
  sql = world.sql,
): Promise<T> {
  return withClient({ signal }, sending, () => {
    for (const isReading of noted) noteReading(isReading);
    return inOrganization(sql, organizationId, work);
  });
}

const pidOf: Work<number> = async (tx) =>
  (await tx<[{ pid: number }]>`select pg_backend_pid() as pid`)[0].pid;

t.test('the statement of a call that only reads is cancelled when its client disconnects', async (t) => {
  const sql = world.connect({ max: 1, statementTimeoutMs: 60_000 });
  const client = new AbortController();
  let pid = 0;
  const reading = callOf(
    client.signal,
    [true],
    async (tx) => {
      pid = await pidOf(tx);
      await tx`select pg_sleep(50)`;
    },
    sql,
  );
  const isRunning = async () => {
    const [row] = await world.sql<[{ count: number }]>`
      select count(*)::int from pg_stat_activity where pid = ${pid} and state = 'active' and query like '%pg_sleep(50)%'`;
    return row.count === 1;
  };
  await waitFor('the statement', isRunning);
  client.abort(gone);
  await t.rejects(reading, gone, 'the caller learns the reason, not that Postgres cancelled something');
  t.notOk(await isRunning());
  t.equal(
    await inOrganization(sql, organizationId, pidOf),
    pid,
    'the connection is kept, and serves the next',
  );
});

t.test('a client that disconnects between two statements gets no second one', async (t) => {
  const client = new AbortController();
  const reading = callOf(client.signal, [true], async (tx) => {
    await tx`select 1`;
    client.abort(gone);
    // The cancellation comes while nothing runs, and is dropped.
    await sleep(20);
    await tx`select pg_sleep(50)`;
  });
  await t.rejects(reading, gone);
});

t.test('no transaction begins for a client that has disconnected', async (t) => {
  let hasBegun = false;
  const work = async () => {
    hasBegun = true;
  };
  await t.rejects(callOf(AbortSignal.abort(gone), [true], work), gone);
  t.notOk(hasBegun);
});

t.test('a call that writes, or has written, runs to its end without its client', async (t) => {
  for (const noted of [[], [false], [true, false], [false, true]]) {
    const client = new AbortController();
    const writing = callOf(client.signal, noted, async (tx) => {
      client.abort(gone);
      await tx`select pg_sleep(0.1)`;
      return 'done';
    });
    t.equal(await writing, 'done', JSON.stringify(noted));
  }
});

t.test('a cancellation never hits what comes next on the connection', async (t) => {
  const random = seededRandom(SEED);
  const sql = world.connect({ max: 2, statementTimeoutMs: 60_000 });
  const ends = { cut: 0, whole: 0 };
  const transaction = (lastsMs: number) => async (tx: TransactionSql) => {
    for (let part = 0; part < 3; part += 1) await tx`select pg_sleep(${lastsMs / 3_000})`;
  };
  const round = async (longestMs: number) => {
    const client = new AbortController();
    const [afterMs, lastsMs] = [random() * longestMs, random() * LONGEST_SLEEP_MS];
    const reading = callOf(client.signal, [true], transaction(lastsMs), sql);
    const leaving = sleep(afterMs).then(() => client.abort(gone));
    await reading.then(
      () => {
        ends.whole += 1;
      },
      (error) => {
        if (error !== gone) throw error;
        ends.cut += 1;
      },
    );
    // A cancellation that came late would hit this one, on the connection that has become free.
    await inOrganization(sql, organizationId, (tx) => tx`select pg_sleep(0.002)`);
    await leaving;
  };
  // A client leaves within some twice the time of a transaction that nobody disturbs, so that both endings come on any machine.
  const undisturbed = () =>
    callOf(new AbortController().signal, [true], transaction(LONGEST_SLEEP_MS / 2), sql);
  const startedAt = performance.now();
  for (let done = 0; done < MEASURED; done += 4)
    await Promise.all([undisturbed(), undisturbed(), undisturbed(), undisturbed()]);
  const longestMs = (2 * (performance.now() - startedAt)) / (MEASURED / 4);
  for (let done = 0; done < ROUNDS; done += 4)
    await Promise.all([round(longestMs), round(longestMs), round(longestMs), round(longestMs)]);
  t.ok(ends.cut > ROUNDS / 50 && ends.whole > ROUNDS / 50, JSON.stringify(ends));
});
