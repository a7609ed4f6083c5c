/** Compares the roll-ups with the rows at the end of a run: what the services had made, and what is left for the next ones. */
import type { Sql } from '#platform/postgres/mod.ts';
import { checkRollups } from '../../../sinks/mod.ts';
import { differencesOf, expectedCells, storedCells } from '../../support/rollup-oracle.ts';
import { applyAllChanges, recomputeAll, registerRollups } from '../../support/rollups.ts';

/** Returns what differs, in sentences. All services must have ended. */
export async function compareRollups(sql: Sql): Promise<string[]> {
  await registerRollups(sql);
  await applyAllChanges(sql);
  const organizations = await sql<{ id: string }[]>`select organization_id as id from assay.organizations`;
  const checked = await checkRollups(
    sql,
    organizations.map(({ id }) => id),
  );
  const wrong = checked.flatMap(({ family, grainSeconds, different }) =>
    different.map(
      (begins) =>
        `roll-ups: ${family} of ${grainSeconds} s at ${begins.toISOString()} do not equal their rows`,
    ),
  );
  await recomputeAll(sql);
  const nowMs = Date.now();
  const differences = differencesOf(await expectedCells(sql, nowMs), await storedCells(sql, nowMs));
  return [...wrong, ...differences.map((one) => `roll-ups, recomputed: ${one}`)];
}
