/** Log-ins as a process keeps them, over a real database. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import {
  createSession,
  createSessionDirectory,
  deleteExpiredSessions,
  listSessions,
} from '#platform/browser-sessions/mod.ts';
import { createKey } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { changesOf, createWorld, movableClock, silentLog } from '../../../support/world.ts';

const HOUR_MS = 3_600_000;

async function setting(t: Test) {
  const world = await createWorld(t);
  const { organizationId } = await world.organization();
  const { record } = await createKey(world.sql, { organizationId, scopes: ['read'] });
  const { keyId } = record;
  const { clock, advance } = movableClock();
  const proxy = await world.proxy();
  const sql = world.connect({ url: proxy.url });
  const changes = changesOf(sql);
  const directory = createSessionDirectory({ sql, ...changes, clock, log: silentLog });
  t.teardown(() => directory.stop());
  // On the same connection, so the directory listens by then.
  await new Promise<void>((resolve) => {
    const ignored = { onNotify: () => {}, onLost: () => {} };
    const probe = changes.listener.listen({ channel: 'probe', onListening: resolve, ...ignored });
    t.teardown(() => probe.stop());
  });
  const begin = (userAgent = 'Test') =>
    world.sql.begin((tx) => createSession(tx, { organizationId, keyId, userAgent, nowMs: clock.now() }));
  const list = () => world.sql.begin((tx) => listSessions(tx, keyId, clock.now()));
  /** Waits until a use after this moment is written. */
  const usedAfter = (ms: number) =>
    waitFor('the use to be written', async () => {
      const [row] = await world.sql<{ at: Date }[]>`select last_used_at as at from assay.browser_sessions`;
      return row!.at.getTime() > ms;
    });
  return { usedAfter, sql: world.sql, proxy, directory, advance, clock, begin, list, keyId };
}

t.test('a log-in ends twelve hours after its last use', async (t) => {
  const { directory, advance, begin, usedAfter } = await setting(t);
  const { secret, session } = await begin();
  advance(12 * HOUR_MS - 5_000);
  t.ok(await directory.find(secret));
  await usedAfter(session.createdAt.getTime());
  advance(12 * HOUR_MS - 5_000);
  t.ok(await directory.find(secret), 'a use keeps it alive');
  advance(12 * HOUR_MS);
  t.equal(await directory.find(secret), null);
});

t.test('a log-in ends seven days after it began, however much it is used, and is deleted', async (t) => {
  const { directory, advance, begin, list, sql, clock, usedAfter } = await setting(t);
  const { secret } = await begin();
  for (let hours = 10; hours < 168; hours += 10) {
    advance(10 * HOUR_MS);
    const nowMs = clock.now();
    t.ok(await directory.find(secret), `after ${hours} hours`);
    await usedAfter(nowMs - HOUR_MS);
  }
  advance(8 * HOUR_MS);
  t.equal(await directory.find(secret), null);
  t.strictSame(await list(), []);
  await deleteExpiredSessions(sql, clock.now());
  t.equal((await sql`select 1 from assay.browser_sessions`).length, 0);
});

t.test('thousands of made-up cookies at once keep no log-in out', async (t) => {
  const { directory, begin } = await setting(t);
  const { secret, session } = await begin();
  const madeUp = Array.from({ length: 3_000 }, () => directory.find(randomBytes(32).toString('base64url')));
  const all = Promise.allSettled(madeUp);
  t.match(await directory.find(secret), { sessionId: session.sessionId });
  t.ok((await all).every((one) => one.status === 'fulfilled' && one.value === null));
});

t.test('uses within a minute are written once', async (t) => {
  const { directory, begin, sql, advance } = await setting(t);
  const { secret } = await begin();
  const version = async () => (await sql`select xmin::text from assay.browser_sessions`)[0]!.xmin;
  const before = await version();
  for (let calls = 0; calls < 20; calls += 1) await directory.find(secret);
  t.equal(await version(), before, 'not in the minute in which it began');
  advance(61_000);
  await Promise.all(Array.from({ length: 20 }, () => directory.find(secret)));
  await waitFor('the use to be written', async () => (await version()) !== before);
  const once = await version();
  for (let calls = 0; calls < 20; calls += 1) await directory.find(secret);
  t.equal(await version(), once);
});

t.test('of many log-ins with one key at the same moment, the fifty latest stay', async (t) => {
  const { begin, list, directory } = await setting(t);
  const { secret: first } = await begin('first');
  await Promise.all(Array.from({ length: 80 }, () => begin()));
  const { secret: last } = await begin('last');
  const listed = await list();
  t.equal(listed.length, 50);
  t.notOk(
    listed.some(({ userAgent }) => userAgent === 'first'),
    'the oldest has ended',
  );
  t.equal(await directory.find(first), null);
  t.ok(await directory.find(last));
});

t.test('a known log-in works while Postgres is away, and an unknown one is a 503', async (t) => {
  const { directory, begin, proxy } = await setting(t);
  const { secret } = await begin();
  t.ok(await directory.find(secret));
  await proxy.cut();
  t.ok(await directory.find(secret));
  await t.rejects(directory.find('x'.repeat(43)), { code: 'store_unavailable' });
});

t.test('what browsers say of themselves is cut to 200 characters', async (t) => {
  const { begin } = await setting(t);
  t.equal((await begin('😀'.repeat(5_000))).session.userAgent, '😀'.repeat(100));
});
