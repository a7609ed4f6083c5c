/** Marks of years, which a rebuild makes at once, in a table that is nearly empty otherwise. */
import t from 'tap';
import { createOrganization } from '#platform/keys/mod.ts';
import { isDue, TASKS } from '../../../../sinks/rollups/tasks.ts';
import { databaseFor } from '../../../support/world.ts';

const DAYS = 400;

t.test('each coarse bucket looks its parts up while the statistics know nothing of the marks', async (t) => {
  const { sql } = await databaseFor(t);
  const { organizationId } = await createOrganization(sql, { name: 'old' });
  await sql`analyze assay.rollup_stale`;
  await sql`select assay.ensure_partitions(now() - n * interval '7 days') from generate_series(0, ${Math.ceil(DAYS / 7)}::int4) n`;
  await sql`
    insert into assay.rollup_stale (organization_id, family, grain_seconds, begins_at, first_marked_at, marked_at)
    select ${organizationId}, family, grain, at, now() - interval '1 day', now() - interval '1 day'
      from (values ('totals', 1800), ('totals', 10800), ('totals', 86400), ('values', 1800), ('values', 86400),
                   ('scores', 1800), ('scores', 86400)) as grains (family, grain)
     cross join lateral generate_series(date_bin('1 day', now() - ${DAYS}::int4 * interval '1 day', 'epoch'),
       now() - interval '2 days', grain * interval '1 second') at`;
  const coarse = TASKS.filter(({ grainSeconds, partSeconds }) => grainSeconds > 1800 && partSeconds !== null);
  t.equal(coarse.length, 4);
  const due = (task: (typeof TASKS)[number]) =>
    sql`from assay.rollup_stale stale where ${isDue(sql, task, true)}`;
  const countDue = async (task: (typeof TASKS)[number]) =>
    (await sql`select count(*)::int4 as count ${due(task)}`)[0]!.count as number;
  for (const task of coarse) {
    const name = `${task.family} of ${task.grainSeconds} s`;
    const plan = await sql`explain (costs off) select ${due(task)}`;
    const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n');
    t.notMatch(lines, /Join|Nested Loop|Materialize/, `${name}: each mark is compared with its own parts`);
    t.equal(await countDue(task), 0, `${name} wait for their parts`);
  }
  await sql`delete from assay.rollup_stale where grain_seconds = 1800`;
  const counts = await Promise.all(coarse.map(countDue));
  t.same(
    coarse.map(({ family, grainSeconds }, index) => [family, grainSeconds, counts[index]! > DAYS / 2]),
    coarse.map(({ family, grainSeconds }) => [
      family,
      grainSeconds,
      family !== 'totals' || grainSeconds === 10_800,
    ]),
    'those whose parts are done are due',
  );
});
