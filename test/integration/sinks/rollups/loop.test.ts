/** The loop that recomputes, as it runs beside the sink. */
import t from 'tap';
import { createMetrics } from '#platform/observability/metrics.ts';
import { startRollupLoop } from '../../../../sinks/rollups/loop.ts';
import { waitFor } from '../../../support/assay.ts';
import { applyAllChanges, noteStored, registerRollups } from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { databaseFor, silentLog } from '../../../support/world.ts';

const { sql } = await databaseFor(t);
const DAY_MS = 86_400_000;
const createdAt = new Date(Math.floor(Date.now() / DAY_MS - 3) * DAY_MS + 1);

async function insert(name: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into assay.organizations (name) values (${name}) returning organization_id as id`;
  const [seeded] = await insertRequests(sql, row!.id, [{ created_at: createdAt }]);
  await sql.begin((tx) =>
    noteStored(tx, [{ organizationId: row!.id, createdAt, requestId: seeded!.request_id }]),
  );
  await applyAllChanges(sql);
  return row!.id;
}

/** As if all marks had been made long ago. */
const age = () => sql`
  update assay.rollup_stale set first_marked_at = now() - interval '1 hour', marked_at = now() - interval '1 hour'`;
const staleOf = async (organizationId: string) =>
  (
    await sql`select 1 from assay.rollup_stale where organization_id = ${organizationId} and family = 'totals'`
  ).length;

await registerRollups(sql);
await applyAllChanges(sql);

t.test(
  'the loop leaves a bucket alone that has just changed, and recomputes it once it is quiet',
  async (t) => {
    const organizationId = await insert('quiet');
    const metrics = createMetrics('test');
    const loop = startRollupLoop({ sql, log: silentLog, metrics, longestSleepMs: () => 20, restMs: 20 });
    t.teardown(() => loop.stop());
    t.equal(await staleOf(organizationId), 3, 'a half hour, its three hours, its day');
    await age();
    await waitFor('the recomputation', async () => (await staleOf(organizationId)) === 0);
    const [cells] = await sql`
    select count(*)::int as count from assay.rollup_totals where organization_id = ${organizationId} and level = 'path'`;
    t.equal(cells!.count, 3);
    t.match(
      await metrics.text(),
      /assay_rollup_buckets_total\{[^}]*family="totals",grain_seconds="86400"[^}]*\} 1\n/,
    );
  },
);

t.test('a bucket that cannot be recomputed is postponed, and keeps up no other', async (t) => {
  const broken = await insert('broken');
  const whole = await insert('whole');
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before insert on assay.rollup_totals_1800s for each row
      when (new.organization_id = '${broken}') execute function refuse()`);
  await age();
  const loop = startRollupLoop({
    sql,
    log: silentLog,
    metrics: createMetrics('test'),
    longestSleepMs: () => 20,
    restMs: 20,
  });
  t.teardown(() => loop.stop());
  await waitFor('the recomputation', async () => (await staleOf(whole)) === 0);
  await waitFor('the postponement', async () => {
    const [row] = await sql`
      select postponed_until > now() + interval '5 minutes' as "isLater" from assay.rollup_stale
       where organization_id = ${broken} and family = 'totals' and grain_seconds = 1800`;
    return row?.isLater === true;
  });
  t.equal(await staleOf(broken), 3, 'it stays stale: queries read its rows');
});

t.test(
  'a loop that sleeps recomputes a bucket when it is due, and looks at once when it is woken',
  async (t) => {
    const organizationId = await insert('due');
    // The half hour is quiet for long enough in a second.
    await sql`
    update assay.rollup_stale set first_marked_at = now() - interval '9 seconds', marked_at = now() - interval '9 seconds'
     where organization_id = ${organizationId}`;
    const loop = startRollupLoop({
      sql,
      log: silentLog,
      metrics: createMetrics('test'),
      longestSleepMs: () => 3_600_000,
      restMs: 20,
    });
    t.teardown(() => loop.stop());
    await waitFor('the half hour', async () => (await staleOf(organizationId)) === 2, 20_000);
    const later = await insert('woken');
    await sql`
    update assay.rollup_stale set first_marked_at = now() - interval '1 hour', marked_at = now() - interval '1 hour'
     where organization_id = ${later}`;
    loop.wake();
    await waitFor('the recomputation after the wake-up', async () => (await staleOf(later)) === 0, 10_000);
  },
);

t.test(
  'many stale buckets of some organizations keep those of others waiting for a turn of each',
  async (t) => {
    const heavy = [await insert('many'), await insert('as many')];
    const few = await insert('few');
    await age();
    // As requests of many old days make them: half hours without any request.
    await sql`
    insert into assay.rollup_stale (organization_id, family, grain_seconds, begins_at, first_marked_at, marked_at)
    select id, 'totals', 1800, ${new Date(Math.floor(createdAt.getTime() / DAY_MS) * DAY_MS)}::timestamptz + n * interval '30 minutes',
           now() - place * interval '2 hours', now() - place * interval '2 hours'
      from unnest(${heavy}::uuid[]) with ordinality as many (id, place) cross join generate_series(1, 47) n`;
    // A turn of theirs takes half a second, as it does over years of weeks.
    await sql.unsafe(`
    create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$;
    create trigger slow after delete on assay.rollup_stale for each row
      when (old.organization_id = any('{${heavy.join()}}'::uuid[])) execute function slow()`);
    t.teardown(() => sql.unsafe('drop function slow cascade'));
    const loop = startRollupLoop({
      sql,
      log: silentLog,
      metrics: createMetrics('test'),
      longestSleepMs: () => 20,
      restMs: 20,
    });
    t.teardown(() => loop.stop());
    await waitFor('the buckets of the others', async () => (await staleOf(few)) === 0, 30_000);
    for (const id of heavy) {
      const left = await staleOf(id);
      t.ok(left > 30 && left < 50, `${left} of the many are left`);
    }
  },
);
