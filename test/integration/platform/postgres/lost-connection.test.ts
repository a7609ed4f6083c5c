import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectPostgres, isStoreUnavailable } from '#platform/postgres/mod.ts';
import { databaseFor } from '../../../support/world.ts';

const CONNECTIONS = 4;
const database = await databaseFor(t);

t.test(
  'a connection that dies in a transaction fails its statement, not the process, and is replaced',
  async (t) => {
    const sql = connectPostgres({
      url: database.url,
      max: CONNECTIONS,
      applicationName: 'dying',
      statementTimeoutMs: 5_000,
    });
    const uncaught: Error[] = [];
    const onUncaught = (error: Error) => void uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    t.teardown(() => {
      process.off('uncaughtException', onUncaught);
    });

    const dieInTransaction = () =>
      sql.begin(async (tx) => {
        const [row] = await tx`select pg_backend_pid() as pid`;
        await database.sql`select pg_terminate_backend(${row!.pid})`;
        // The socket closes while the next statement waits to be written.
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        await tx`select 1`;
      });
    for (let round = 0; round < 10; round += 1) {
      const ends = await Promise.allSettled(Array.from({ length: CONNECTIONS }, dieInTransaction));
      t.ok(ends.every(({ status }) => status === 'rejected'));
    }

    // A session terminated a moment ago may still accept one statement, and fail it: that is no hang.
    const ask = async (): Promise<unknown> => {
      try {
        return await sql`select 1 as one`;
      } catch (error) {
        if (!isStoreUnavailable(error)) throw error;
        return await ask();
      }
    };
    const answers = Promise.all(Array.from({ length: CONNECTIONS * 2 }, ask));
    const first = await Promise.race([answers, sleep(5_000, 'no answer within five seconds')]);
    t.not(first, 'no answer within five seconds');
    t.same(uncaught, []);
    await sql.end({ timeout: 1 });
  },
);

/** By way of a server that hangs up on a connection as soon as Postgres has said that it is ready for statements. */
async function throughHangUps(t: Test, target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const server = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    outer.on('data', (chunk: Buffer) => {
      inner.write(chunk);
      if (chunk.includes('Z\0\0\0\x05I')) inner.end();
    });
    inner.pipe(outer);
    for (const socket of [inner, outer]) socket.on('error', () => {});
    inner.on('close', () => outer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url.href;
}

t.test('a connection that dies as soon as it is made fails its statement, not the process', async (t) => {
  const sql = connectPostgres({
    url: await throughHangUps(t, database.url),
    max: CONNECTIONS,
    applicationName: 'hung up on',
    statementTimeoutMs: 5_000,
  });
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown) => void uncaught.push(error);
  process.on('unhandledRejection', onUncaught);
  t.teardown(() => {
    process.off('unhandledRejection', onUncaught);
  });
  const ends = await Promise.allSettled(Array.from({ length: CONNECTIONS }, () => sql`select 1`));
  for (const end of ends) t.ok(end.status === 'rejected' && isStoreUnavailable(end.reason));
  await sql.end({ timeout: 1 });
  t.same(uncaught, []);
});
