import t from 'tap';
import { announce, readAnnounced } from '#platform/announcements/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { createWorld, databaseFor } from '../../../support/world.ts';

t.setTimeout(60_000);

const log = createLogger({ role: 'test', level: 'silent' });
const database = await databaseFor(t);
const { sql } = database;
t.afterEach(() => sql`delete from assay.announcements`);

const facts = { sandbox: 'chroot', why: null };
const nextRead = async (isDone: (count: number) => boolean) => {
  while (!isDone((await readAnnounced(sql, 'evaluators')).length));
};

t.test('announcements are read by role, equal ones once, until they are withdrawn', async (t) => {
  const other = { sandbox: 'none', why: 'it needs Linux' };
  const announced = [
    await announce({ sql, log, role: 'evaluators', facts }),
    await announce({ sql, log, role: 'evaluators', facts }),
    await announce({ sql, log, role: 'evaluators', facts: other }),
    await announce({ sql, log, role: 'gateway', facts: { providers: {}, models: [], groups: [] } }),
  ];
  const read = await readAnnounced(sql, 'evaluators');
  t.strictSame(new Set(read.map(({ sandbox }) => sandbox)), new Set(['chroot', 'none']));
  t.equal(read.length, 2);
  t.strictSame(await readAnnounced(sql, 'gateway'), [{ providers: {}, models: [], groups: [] }]);
  for (const one of announced) await one.stop();
  t.strictSame(await readAnnounced(sql, 'evaluators'), []);
});

t.test(
  'an announcement comes back by itself when its row is lost, and rows of killed processes go',
  async (t) => {
    const killed = await announce({ sql, log, role: 'evaluators', facts });
    await sql`update assay.announcements set seen_at = now() - interval '25 hours'`;
    const alive = await announce({ sql, log, role: 'evaluators', facts, renewEveryMs: 20 });
    t.equal((await sql`select from assay.announcements`).length, 1);
    await sql`delete from assay.announcements`;
    await nextRead((count) => count === 1);
    await alive.stop();
    await killed.stop();
  },
);

t.test(
  'a process without Postgres stops without delay, and announces itself again once Postgres is back',
  async (t) => {
    const world = await createWorld(t, database);
    const proxy = await world.proxy();
    const pool = world.connect({ url: proxy.url });
    t.teardown(() => proxy.thaw());
    const announcement = await announce({ sql: pool, log, role: 'evaluators', facts, renewEveryMs: 20 });
    await proxy.cut();
    await sql`delete from assay.announcements`;
    await proxy.restore();
    await nextRead((count) => count === 1);
    proxy.freeze();
    const start = performance.now();
    await announcement.stop();
    t.ok(performance.now() - start < 10_000, 'a frozen Postgres keeps it a second, not for ever');
  },
);
