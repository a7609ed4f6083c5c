/** One connection of a process, on which all of its parts listen. */
import t, { type Test } from 'tap';
import type { Logger } from '#platform/observability/log.ts';
import { createListener, type Listener } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld, databaseFor, silentLog } from '../../../support/world.ts';

// Shared by the tests, which differ in the application name of their pools.
const database = await databaseFor(t, { migrated: false });
let tests = 0;

async function setUp(t: Test, log: Logger = silentLog) {
  const world = await createWorld(t, database);
  const proxy = await world.proxy();
  tests += 1;
  const applicationName = `listening ${tests}`;
  const sql = world.connect({ url: proxy.url, applicationName });
  const listener = createListener({ sql, log });
  /** The connections that listen; the pool has another, which does not, by which the listener notifies itself. */
  const backends = async () => {
    const rows = await database.sql<{ pid: number; query: string }[]>`
      select pid, query from pg_stat_activity
       where application_name = ${applicationName} and query ilike '%listen "%'`;
    return [...rows];
  };
  const heard: string[] = [];
  return {
    proxy,
    listener,
    heard,
    backends,
    /** Listens as `name`, and waits until it does. */
    join: async (name: string, channel: string) => {
      const joined = join(t, { listener, heard, name, channel });
      await waitFor(`${name} to listen`, () => heard.includes(`${name} listening`));
      return joined;
    },
    notify: (channel: string, payload: string) => database.sql.notify(channel, payload),
    /** Waits for so many more callbacks than `heard` had, and returns them. */
    next: async (count: number) => {
      await waitFor(`${count} callbacks`, () => heard.length >= count);
      return heard.splice(0);
    },
  };
}

type Joining = { listener: Listener; heard: string[]; name: string; channel: string };

function join(t: Test, { listener, heard, name, channel }: Joining) {
  const joined = listener.listen({
    channel,
    onNotify: (payload) => heard.push(`${name} ${payload}`),
    onListening: () => heard.push(`${name} listening`),
    onLost: () => heard.push(`${name} lost`),
  });
  t.teardown(() => joined.stop());
  return joined;
}

t.test('two channels share one connection, and each subscription hears its own', async (t) => {
  const { join, backends, notify, next } = await setUp(t);
  await join('first', 'one');
  await join('second', 'two');
  t.same(await next(2), ['first listening', 'second listening'], 'the first is not disturbed by the second');
  t.equal((await backends()).length, 1);
  await notify('one', '1');
  await notify('two', '2');
  t.same(await next(2), ['first 1', 'second 2']);
});

t.test('subscriptions that share a connection are lost together, and come back together', async (t) => {
  const { join, backends, notify, next } = await setUp(t);
  await join('first', 'one');
  await join('second', 'two');
  await next(2);
  const [before] = await backends();
  await database.sql`select pg_terminate_backend(${before!.pid})`;
  t.same(await next(4), ['first lost', 'second lost', 'first listening', 'second listening']);
  const after = await backends();
  t.equal(after.length, 1);
  t.not(after[0]!.pid, before!.pid);
  await notify('two', '2');
  await notify('one', '1');
  t.same(await next(2), ['second 2', 'first 1']);
});

t.test('a subscription that begins during an outage listens with the others after it', async (t) => {
  const { join: joinNow, listener, heard, proxy, backends, next } = await setUp(t);
  await joinNow('first', 'one');
  await next(1);
  await proxy.cut();
  t.same(await next(1), ['first lost']);
  join(t, { listener, heard, name: 'second', channel: 'two' });
  await proxy.restore();
  t.same(await next(2), ['first listening', 'second listening']);
  t.equal((await backends()).length, 1);
});

t.test('a subscription that begins and stops during an outage leaves nothing behind', async (t) => {
  const { join: joinNow, listener, heard, proxy, notify, next } = await setUp(t);
  await joinNow('first', 'one');
  await proxy.cut();
  await next(2);
  const second = join(t, { listener, heard, name: 'second', channel: 'two' });
  await second.stop();
  await proxy.restore();
  await next(1);
  await notify('two', '2');
  await notify('one', '1');
  t.same(await next(1), ['first 1']);
});

t.test('the server no longer sends a channel whose last subscription stopped', async (t) => {
  const { join, backends, notify, next } = await setUp(t);
  const first = await join('first', 'one');
  await join('second', 'two');
  await next(2);
  const [before] = await backends();
  await first.stop();
  await waitFor('the server to be told', async () => (await backends())[0]!.query.includes('unlisten "one"'));
  await notify('one', '1');
  await notify('two', '2');
  t.same(await next(1), ['second 2']);
  t.equal((await backends())[0]!.pid, before!.pid, 'on the same connection');
  await join('third', 'one');
  await notify('one', '1');
  t.same(await next(2), ['third listening', 'third 1'], 'and it sends it again to the next');
});

t.test('two subscriptions of one channel both hear it, and one goes on when the other stops', async (t) => {
  const { join, backends, notify, next } = await setUp(t);
  const first = await join('first', 'one');
  await join('second', 'one');
  await next(2);
  await notify('one', '1');
  t.same(await next(2), ['first 1', 'second 1']);
  await first.stop();
  await notify('one', '2');
  t.same(await next(1), ['second 2']);
  t.equal((await backends()).length, 1);
});

t.test('a callback that throws is logged, and the other subscriptions hear what they should', async (t) => {
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (what: object) => logged.push(what) };
  const { join, listener, backends, notify, next } = await setUp(
    t,
    Object.assign(Object.create(silentLog), log),
  );
  const fail = () => {
    throw new Error('a defect');
  };
  const failing = listener.listen({ channel: 'one', onNotify: fail, onListening: fail, onLost: fail });
  t.teardown(() => failing.stop());
  await join('second', 'one');
  await notify('one', '1');
  t.same(await next(2), ['second listening', 'second 1']);
  const [backend] = await backends();
  await database.sql`select pg_terminate_backend(${backend!.pid})`;
  t.same(await next(2), ['second lost', 'second listening']);
  t.same(
    logged,
    Array(4).fill({ channel: 'one', error: 'a defect' }),
    'listening, a notification, the loss, and listening again',
  );
});

t.test('the connection ends with its last subscription, and the next one opens another', async (t) => {
  const { join, backends, notify, next } = await setUp(t);
  const first = await join('first', 'one');
  const second = await join('second', 'two');
  await Promise.all([first.stop(), second.stop()]);
  await waitFor('the connection to be closed', async () => (await backends()).length === 0);
  await next(2);
  await join('third', 'one');
  await notify('one', '1');
  t.same(await next(2), ['third listening', 'third 1']);
  t.equal((await backends()).length, 1);
  await first.stop();
  t.equal((await backends()).length, 1, 'a second stop of another does nothing to it');
});

t.test('a callback that adds a subscription has no other told twice that it listens', async (t) => {
  const { listener, heard, notify, next } = await setUp(t);
  // The first is asked for alone, and the next two together.
  join(t, { listener, heard, name: 'first', channel: 'one' });
  const second = listener.listen({
    channel: 'two',
    onNotify: () => {},
    onListening: () => join(t, { listener, heard, name: 'added', channel: 'three' }),
    onLost: () => {},
  });
  t.teardown(() => second.stop());
  join(t, { listener, heard, name: 'third', channel: 'two' });
  t.same(await next(3), ['first listening', 'third listening', 'added listening']);
  await notify('three', '3');
  await notify('one', '1');
  t.same(await next(2), ['added 3', 'first 1']);
});

t.test('a subscription that another one stops in a callback hears nothing more', async (t) => {
  const { join, listener, notify, next } = await setUp(t);
  const stopping: { stop(): Promise<void> }[] = [];
  const first = listener.listen({
    channel: 'one',
    onNotify: () => void Promise.all(stopping.map((one) => one.stop())),
    onListening: () => {},
    onLost: () => {},
  });
  t.teardown(() => first.stop());
  stopping.push(await join('second', 'one'));
  await join('third', 'one');
  await next(2);
  await notify('one', '1');
  t.same(await next(1), ['third 1']);
});
