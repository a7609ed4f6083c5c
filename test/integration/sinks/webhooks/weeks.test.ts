/** Filters of webhooks on a log of many weeks. */
import t from 'tap';
import { passFilter } from '../../../../sinks/webhooks/matching.ts';
import { startWebhookWorld } from './world.ts';

const WEEKS = 20;
const FILTERS = {
  'a column': { request: { user_id: { 'not-equals': 'x' } } },
  'a score': { scores: { accuracy: { 'not-gt': 5 } } },
  'a text in bodies': { request: { body: { 'not-contains': 'nothing such' } } },
  'a place in bodies': { values: { 'response.nothing.such': { equals: null } } },
};

/** Planning for one week takes some milliseconds, for 150 of them more than the filters of an organization may take together. */
t.test('a filter is planned for the weeks of its requests, however many there are', async (t) => {
  const world = await startWebhookWorld(t, { delivers: false });
  const { sql } = world.api.database;
  const now = Date.now();
  for (let week = 0; week < WEEKS; week += 1) {
    await sql`select assay.ensure_partitions(${new Date(now - week * 7 * 86_400_000)})`;
  }
  await world.log([{}, { created_at: new Date(now - 70 * 86_400_000) }]);
  const keys = await sql<{ createdAt: Date; requestId: string }[]>`
    select created_at as "createdAt", request_id as "requestId" from assay.requests order by created_at`;
  t.equal(keys.length, 2);
  for (const [name, filter] of Object.entries(FILTERS)) {
    await sql.begin(async (tx) => {
      const passing = await passFilter(tx, world.api.own.organizationId, filter, keys, 10_000);
      t.strictSame(passing, [...keys], name);
      const locked = await tx<{ relname: string }[]>`
        select relname from pg_locks join pg_class on pg_class.oid = relation
         where pid = pg_backend_pid() and relispartition and relkind = 'r' and relname ~ '[0-9]{8}$'`;
      const weeks = new Set(locked.map(({ relname }) => relname.slice(-8)));
      t.ok(weeks.size >= 2 && weeks.size <= 4, `${name}: ${weeks.size} of ${WEEKS} weeks`);
    });
  }
});
