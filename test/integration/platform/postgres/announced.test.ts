/** Loops that sleep until work is announced on a channel. */
import t, { type Test } from 'tap';
import { createListener, onAnnounced, type Sql } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld, databaseFor, silentLog } from '../../../support/world.ts';

const CHANNEL = 'assay_test_work';
const LONG_MS = 30_000;
const SHORT_MS = 1_000;

async function setUp(t: Test, sqlOf: (sql: Sql) => Promise<Sql> | Sql = (sql) => sql) {
  const world = await createWorld(t);
  const proxy = await world.proxy();
  const sql = await sqlOf(world.connect({ url: proxy.url, max: 2 }));
  const listener = createListener({ sql, log: silentLog });
  let wakeUps = 0;
  const announced = onAnnounced(listener, CHANNEL, () => {
    wakeUps += 1;
  });
  t.teardown(() => announced.stop());
  return {
    proxy,
    listener,
    announced,
    wakeUps: () => wakeUps,
    announce: () => world.sql`select pg_notify(${CHANNEL}, '')`,
  };
}

t.test('a loop is woken by each announcement, and may sleep long once notifications arrive', async (t) => {
  const { listener, announced, wakeUps, announce } = await setUp(t);
  t.equal(announced.longestSleepMs(), SHORT_MS, 'nothing has arrived yet');
  await waitFor('notifications to arrive', () => listener.isHearing());
  t.equal(announced.longestSleepMs(), LONG_MS);
  const before = wakeUps();
  t.equal(before, 1, 'it is woken when listening begins');
  await announce();
  await waitFor('a wake-up', () => wakeUps() === before + 1);
});

t.test('a loop is woken when its connection is lost, and again when it is back', async (t) => {
  const { proxy, listener, announced, wakeUps, announce } = await setUp(t);
  await waitFor('notifications to arrive', () => listener.isHearing());
  const before = wakeUps();
  await proxy.cut();
  await waitFor('a wake-up by the loss', () => wakeUps() === before + 1);
  t.equal(announced.longestSleepMs(), SHORT_MS, 'it polls meanwhile');
  await announce();
  await proxy.restore();
  await waitFor('a wake-up by the return', () => wakeUps() === before + 2);
  await waitFor('notifications to arrive again', () => announced.longestSleepMs() === LONG_MS);
});

t.test('a loop looks every second where a pooler drops notifications', async (t) => {
  const other = await databaseFor(t, { migrated: false });
  // What the listener sends itself through the pool goes elsewhere, as if it did not arrive.
  const { listener, announced, wakeUps } = await setUp(t, (sql) =>
    Object.assign(((...statement: Parameters<Sql>) => other.sql(...statement)) as unknown as Sql, {
      options: sql.options,
    }),
  );
  await waitFor('it to listen', () => wakeUps() === 1);
  t.equal(listener.isHearing(), false);
  t.equal(announced.longestSleepMs(), SHORT_MS);
});
