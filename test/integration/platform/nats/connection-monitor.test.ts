/** The connection monitor against a nats-server that is killed. */
import t from 'tap';
import { ConnectionMonitor, connectNats, DisconnectedError } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const skip = natsIsMissing();
/** Longer than any of these waits: a test that waits for so long was not woken. */
const NOT_WOKEN_MS = 60_000;
const never = () => new Promise<never>(() => {});

async function setUp(t: { teardown(fn: () => Promise<void>): void }) {
  const nats = await startNats();
  const address = { servers: [nats.url], credentialsFile: null };
  const connection = await connectNats({ address, name: 'monitor', log });
  t.teardown(async () => {
    await connection.close();
    await nats[Symbol.asyncDispose]();
  });
  return { nats, connection, monitor: new ConnectionMonitor(connection, log) };
}

t.test(
  'work that waits for a response is rejected as soon as the connection to NATS is lost',
  { skip },
  async (t) => {
    const { nats, monitor } = await setUp(t);
    const rejected = t.rejects(monitor.rejectOnDisconnect(monitor.epoch, never()), DisconnectedError);
    await nats.kill();
    await rejected;
    t.equal(monitor.epoch, 1);
    await t.rejects(
      monitor.rejectOnDisconnect(monitor.epoch, Promise.resolve(1)),
      DisconnectedError,
      'nor does work begin while the connection is lost',
    );
  },
);

t.test('waitConnected resolves as soon as NATS is reconnected', { skip }, async (t) => {
  const { nats, monitor } = await setUp(t);
  t.equal(await monitor.waitConnected(NOT_WOKEN_MS), true);
  const rejected = t.rejects(monitor.rejectOnDisconnect(monitor.epoch, never()), DisconnectedError);
  await nats.kill();
  await rejected;
  const back = monitor.waitConnected(NOT_WOKEN_MS);
  await nats.restart();
  t.equal(await back, true);
  t.equal(await monitor.rejectOnDisconnect(monitor.epoch, Promise.resolve('answer')), 'answer');
});

t.test('work of an epoch before a disconnect is rejected after the reconnect', { skip }, async (t) => {
  const { nats, monitor } = await setUp(t);
  const before = monitor.epoch;
  const rejected = t.rejects(monitor.rejectOnDisconnect(before, never()), DisconnectedError);
  await nats.kill();
  await rejected;
  const back = monitor.waitConnected(NOT_WOKEN_MS);
  await nats.restart();
  await back;
  await t.rejects(
    monitor.rejectOnDisconnect(before, Promise.resolve('from another stream')),
    DisconnectedError,
  );
});

t.test(
  'a failure of the work itself is passed on by rejectOnDisconnect, and ends nothing else',
  { skip },
  async (t) => {
    const { monitor } = await setUp(t);
    await t.rejects(
      monitor.rejectOnDisconnect(monitor.epoch, Promise.reject(new Error('no such stream'))),
      /no such stream/,
    );
    t.equal(await monitor.rejectOnDisconnect(monitor.epoch, Promise.resolve(2)), 2);
  },
);

t.test(
  'waitConnected resolves with false when its time is over, or the connection is closed for good',
  { skip },
  async (t) => {
    const { nats, monitor, connection } = await setUp(t);
    const rejected = t.rejects(monitor.rejectOnDisconnect(monitor.epoch, never()), DisconnectedError);
    await nats.kill();
    await rejected;
    t.equal(await monitor.waitConnected(1), false);
    const closed = monitor.waitConnected(NOT_WOKEN_MS);
    await connection.close();
    t.equal(await closed, false);
    t.equal(monitor.epoch, 1);
  },
);
