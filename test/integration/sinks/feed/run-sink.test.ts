/** A sink at work: each change once, whatever dies when; failures delay one sink alone; batches are bounded. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { registerSink } from '../../../../sinks/feed/cursor.ts';
import { BatchLate, type Change, type ChangeSignal, type Sink } from '../../../../sinks/feed/mod.ts';
import { applyNext, runSink } from '../../../../sinks/feed/run-sink.ts';
import { waitFor } from '../../../support/assay.ts';
import { type CountingSink, countingSink, feedMetrics } from '../../../support/counting-sink.ts';
import { polledChanges } from '../../../support/polled-changes.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { createWorld, silentLog } from '../../../support/world.ts';

const world = await createWorld(t);
const { sql } = world;
const metrics = feedMetrics();
const FULL = { changes: 100, keys: 100 };
const optionsOf = (sink: Sink) => ({ sql, log: silentLog, feedMetrics: metrics, sink });

const organizationId = randomUUID();
const note =
  (...ids: string[]) =>
  (tx: TransactionSql) => {
    const keys = ids.map((requestId) => ({ createdAt: new Date(0), requestId }));
    return noteChange(tx, { organizationId, kind: 'record', keys });
  };
const add = (...ids: string[]) => sql.begin(note(...ids));
const idsOf = async (sink: CountingSink) => (await sink.seen()).map(({ requestId }) => requestId);
const stateOf = async ({ name }: Sink) => {
  const [row] = await sql<{ state: string; failures: number; last_error: string | null }[]>`
    select state, failures, last_error from assay.sinks where name = ${name}`;
  return row!;
};

/**
 * A sink of its own for a test, past all changes so far. Waits until no transaction that is older than them runs, of another
 * test on the server for example: its changes would come by the feed though they were there before.
 */
async function freshSink(name: string): Promise<CountingSink> {
  await waitFor('older transactions to end', async () => {
    const [row] = await sql<{ isPast: boolean }[]>`
      select coalesce(max(xid::text::numeric) < pg_snapshot_xmin(pg_current_snapshot())::text::numeric, true) as "isPast"
        from assay.changes`;
    return row!.isPast;
  });
  const sink = await countingSink(sql, name);
  await registerSink(sql, name);
  await applyNext(optionsOf(sink), FULL);
  return sink;
}

/** Applies until the sink has seen so many keys; transactions of other tests on the server may hold changes back for a moment. */
async function applyAll(sink: CountingSink, count: number, given: Sink = sink): Promise<void> {
  await waitFor(`${count} keys in ${sink.name}`, async () => {
    await applyNext(optionsOf(given), FULL);
    return (await idsOf(sink)).length >= count;
  });
}

t.test('a new sink comes up by a scan, and follows what commits from then on', async (t) => {
  await add('before');
  const open = await openTransaction(sql, note('during'));
  const sink = await freshSink('new');
  t.same(sink.resumed, [null]);
  t.match(await stateOf(sink), { state: 'running', last_error: null });
  await open.end();
  await add('after');
  await applyAll(sink, 2);
  t.same(await idsOf(sink), ['during', 'after'], 'the transaction that was open comes by the feed');
  t.same(sink.resumed, [null], 'once');
});

t.test(
  'a sink whose connection dies between its effect and the commit applies the changes once',
  async (t) => {
    const proxy = await world.proxy();
    const pool = world.connect({ url: proxy.url, max: 1 });
    const sink = await freshSink('cut');
    await add('a', 'b');
    const dying: Sink = {
      ...sink,
      async apply(tx, changes) {
        await sink.apply(tx, changes);
        const [row] = await tx`select count(*)::int as count from seen where sink = 'cut'`;
        t.equal(row!.count, 2, 'the effect was there');
        await proxy.cut();
      },
    };
    await waitFor('the first try', () =>
      applyNext({ ...optionsOf(dying), sql: pool }, FULL).then(
        (result) => result !== 'idle',
        () => true,
      ),
    );
    t.same(await idsOf(sink), [], 'and went with the transaction');
    await applyAll(sink, 2);
    await applyNext(optionsOf(sink), FULL);
    t.same(await idsOf(sink), ['a', 'b']);
  },
);

t.test(
  'many processes of one sink apply every change once, in order, while transactions commit in any order',
  async (t) => {
    const sink = await freshSink('shared');
    const running = [1, 2, 3].map(() =>
      runSink({ ...optionsOf(sink), sql: world.connect({ max: 2 }), everyMs: 1, changes: polledChanges(1) }),
    );
    const WRITERS = 8;
    const EACH = 40;
    const pool = world.connect({ max: WRITERS, statementTimeoutMs: 30_000 });
    const write = async (writer: number) => {
      for (let index = 0; index < EACH; index += 1) {
        await pool.begin(async (tx) => {
          await note(`${writer}-${index}`)(tx);
          // Numbers are taken in one order, and transactions end in another.
          if (index % 3 === 0) await tx`select pg_sleep(random() * 0.01)`;
          if (index % 10 === 9) await tx`savepoint s`;
        });
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    await waitFor('all changes', async () => (await idsOf(sink)).length >= WRITERS * EACH);
    await Promise.all(running.map((one) => one.stop()));
    const seen = await sink.seen();
    t.equal(seen.length, WRITERS * EACH);
    t.equal(new Set(seen.map(({ requestId }) => requestId)).size, WRITERS * EACH);
    for (let writer = 0; writer < WRITERS; writer += 1) {
      const own = seen.filter(({ requestId }) => requestId!.startsWith(`${writer}-`));
      t.same(
        own.map(({ requestId }) => requestId),
        Array.from({ length: EACH }, (_, index) => `${writer}-${index}`),
        'what one writer committed one after the other comes so',
      );
    }
  },
);

t.test('a sink that fails is late alone, says why, and goes on where it stood', async (t) => {
  const [sound, failing] = [await freshSink('sound'), await freshSink('failing')];
  let isBroken = true;
  const broken: Sink = {
    ...failing,
    async apply(tx, changes) {
      await failing.apply(tx, changes);
      if (isBroken) throw new Error('no room \0 left');
    },
  };
  const running = [sound, broken].map((sink) =>
    runSink({ ...optionsOf(sink), everyMs: 5, changes: polledChanges(5) }),
  );
  await add('x', 'y');
  await waitFor('the sound sink', async () => (await idsOf(sound)).length === 2);
  await waitFor('the failure', async () => (await stateOf(failing)).failures > 0);
  t.match(await stateOf(failing), { state: 'running', last_error: 'no room \ufffd left' });
  t.same(await idsOf(failing), []);
  isBroken = false;
  await waitFor('the repaired sink', async () => (await idsOf(failing)).length === 2);
  t.match(await stateOf(failing), { failures: 0, last_error: null });
  await Promise.all(running.map((one) => one.stop()));
});

t.test('a batch that is too much for a sink gets through in parts', async (t) => {
  const sink = await freshSink('slow');
  const sizes: number[] = [];
  const slow: Sink = {
    ...sink,
    async apply(tx, changes) {
      sizes.push(changes.length);
      if (changes.length > 2) throw Object.assign(new Error('too slow'), { code: '57014' });
      await sink.apply(tx, changes);
    },
  };
  await sql.begin(async (tx) => {
    for (let index = 0; index < 8; index += 1) await note(`s${index}`)(tx);
  });
  const running = runSink({
    ...optionsOf(slow),
    everyMs: 5,
    changes: polledChanges(5),
    retry: { firstMs: 1, longestMs: 1 },
  });
  await waitFor('all parts', async () => (await idsOf(sink)).length === 8);
  await running.stop();
  t.ok(Math.max(...sizes) === 8 && sizes.some((size) => size <= 2));
});

t.test('a batch that took too long comes again with a tenth of its changes, and is no failure', async (t) => {
  const sink = await freshSink('late');
  const sizes: number[] = [];
  const late: Sink = {
    ...sink,
    async apply(tx, changes) {
      sizes.push(changes.length);
      if (sizes.length === 1) throw new BatchLate('a filter waited');
      await sink.apply(tx, changes);
    },
  };
  await sql.begin(async (tx) => {
    for (let index = 0; index < 150; index += 1) await note(`l${index}`)(tx);
  });
  const running = runSink({
    ...optionsOf(late),
    everyMs: 5,
    changes: polledChanges(5),
    retry: { firstMs: 1, longestMs: 1 },
  });
  await waitFor('all parts', async () => (await idsOf(sink)).length === 150);
  await running.stop();
  t.same(sizes, [150, 100, 50]);
  t.match(await stateOf(sink), { failures: 0, last_error: null });
});

t.test('a batch ends with the change that fills it, by changes and by keys', async (t) => {
  const sink = await freshSink('bounded');
  const sizes: number[][] = [];
  const watched: Sink = {
    ...sink,
    async apply(tx, changes: readonly Change[]) {
      sizes.push(changes.map(({ keys }) => keys.length));
      await sink.apply(tx, changes);
    },
  };
  await sql.begin(async (tx) => {
    for (const size of [3, 4, 2, 1, 1, 1, 9])
      await note(...Array.from({ length: size }, () => randomUUID()))(tx);
  });
  await waitFor('all changes', async () => {
    await applyNext(optionsOf(watched), { changes: 3, keys: 5 });
    return (await idsOf(sink)).length === 21;
  });
  t.same(sizes, [
    [3, 4],
    [2, 1, 1],
    [1, 9],
  ]);
});

t.test('stop ends the wait of an idle sink, and lets a batch under way end', async (t) => {
  const sink = await freshSink('stopped');
  const begun = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  const held: Sink = {
    ...sink,
    async apply(tx, changes) {
      await sink.apply(tx, changes);
      begun.resolve();
      await going.promise;
    },
  };
  const running = runSink({ ...optionsOf(held), everyMs: 5, changes: polledChanges(5) });
  await add('last');
  await begun.promise;
  const stopped = running.stop();
  going.resolve();
  await stopped;
  t.same(await idsOf(sink), ['last']);
  const idle = runSink({ ...optionsOf(sink), changes: polledChanges(3_600_000) });
  await idle.stop();
});

t.test('a sink with nothing to do writes nothing, not even a transaction number', async (t) => {
  const sink = await freshSink('idle');
  const readOnly = world.connect({ url: `${world.database.url}?default_transaction_read_only=on` });
  await t.rejects(readOnly`create table written ()`, { code: '25006' });
  t.equal(await applyNext({ ...optionsOf(sink), sql: readOnly }, FULL), 'idle');
});

/** Runs a sink that sleeps until it is told of changes. */
function sleeping(t: Test, sink: Sink) {
  let wake = () => {};
  const changes: ChangeSignal = {
    follow: (follower) => {
      wake = follower;
    },
    longestSleepMs: () => 3_600_000,
  };
  const running = runSink({ ...optionsOf(sink), everyMs: 5, changes });
  t.teardown(() => running.stop());
  return { wake: () => wake() };
}

t.test('a sink that sleeps applies a change as soon as it is told of one', async (t) => {
  const sink = await freshSink('told');
  const { wake } = sleeping(t, sink);
  await add('first');
  wake();
  await waitFor('the first change', async () => (await idsOf(sink)).includes('first'));
  await sleep(200);
  await add('second');
  await sleep(200);
  t.same(await idsOf(sink), ['first'], 'it sleeps');
  wake();
  await waitFor('the second change', async () => (await idsOf(sink)).includes('second'));
});

t.test(
  'a sink that was told of a change behind an open transaction applies it once that has ended',
  async (t) => {
    const sink = await freshSink('behind a transaction');
    const { wake } = sleeping(t, sink);
    await sleep(200);
    const open = await openTransaction(sql, (tx) => tx`select pg_current_xact_id()`);
    await add('held');
    wake();
    await sleep(200);
    t.same(await idsOf(sink), []);
    await open.end();
    await waitFor('the change', async () => (await idsOf(sink)).includes('held'));
  },
);
