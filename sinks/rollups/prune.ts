/** Drops roll-ups by age, and those of weeks that retention has dropped. */
import { GRAINS } from '#core/rollups/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { CELLS } from './cells/mod.ts';

/** Rows of one statement: few enough that it takes milliseconds. */
const AT_ONCE = 10_000;

/** A day that is stale needs its half hours, however old they are. */
const OF_FRESH_DAY = `
  and not exists (
    select from assay.rollup_stale day
     where day.organization_id = old.organization_id and day.family = 'values' and day.grain_seconds = 86400
       and day.begins_at = date_bin('1 day', old.begins_at, 'epoch'))`;

/** Returns statements that delete a limited number of rows each. */
function statements(): string[] {
  const dropped = Object.entries(GRAINS).flatMap(([family, grains]) =>
    grains.flatMap(({ seconds, keptMs }) => (keptMs === null ? [] : [{ family, seconds, keptMs }])),
  );
  const byAge = dropped.flatMap(({ family, seconds, keptMs }) => {
    const isHalfHourOfValues = family === 'values' && seconds === 1_800;
    const old = `grain_seconds = ${seconds} and begins_at < now() - interval '${keptMs} ms'
      ${isHalfHourOfValues ? OF_FRESH_DAY : ''}`;
    const cells = CELLS[family as keyof typeof CELLS].tables.map(({ table }) => ({ table, condition: old }));
    // The marks of old half hours of values are those of a stale day.
    return isHalfHourOfValues
      ? cells
      : [...cells, { table: 'rollup_stale', condition: `family = '${family}' and ${old}` }];
  });
  // Weeks are dropped from the oldest on; where there is none, nothing was ever stored, or everything was dropped by hand.
  const isDropped = 'begins_at < (select min(monday) from assay.rollup_weeks() as monday)';
  const byWeek = [
    ...GRAINS.values.map(({ seconds }) => ({
      table: 'rollup_values',
      condition: `grain_seconds = ${seconds} and ${isDropped}`,
    })),
    { table: 'rollup_stale', condition: isDropped },
  ];
  return [...byAge, ...byWeek].map(
    ({ table, condition }) => `
      delete from assay.${table}
       where ${/grain_seconds = \d+/.exec(condition)?.[0] ?? 'true'} and ctid = any(array(
         select ctid from assay.${table} old where ${condition} limit ${AT_ONCE}))`,
  );
}

const STATEMENTS = statements();

/** Drops old rows. Returns their number. */
export async function pruneRollups(sql: Sql): Promise<number> {
  let total = 0;
  for (const statement of STATEMENTS) {
    for (;;) {
      const { count } = await sql.unsafe(statement);
      total += count;
      if (count < AT_ONCE) break;
    }
  }
  return total;
}
