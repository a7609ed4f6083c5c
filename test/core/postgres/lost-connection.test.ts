import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connectPostgres, isStoreUnavailable } from '#core/postgres/mod.ts';
import { testDatabase } from '../../support/postgres.ts';

const CONNECTIONS = 4;
const database = await testDatabase();
t.teardown(() => database.close());

t.test(
  'a connection that dies inside a transaction fails its statement, not the process, and is of use again',
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

    // A session that was told to die a moment ago may still take one statement, and fail it: that is no hang.
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
