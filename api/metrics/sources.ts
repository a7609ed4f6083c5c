/** Finds the sources of a period for a plan of roll-ups. */
import type { FamilyName } from '#core/rollups/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { planRollups } from '#platform/rollups/mod.ts';
import { runStatement } from '../requests/mod.ts';
import type { Plan } from './plan.ts';
import type { Period } from './read-query.ts';
import { hasBuckets, type Sources } from './rollup-cells.ts';
import { othersStatement } from './value-cells.ts';

/** Sources of a period, which have all changes that were committed before `asOfMs`. */
export type FoundSources = { readonly sources: NonNullable<Sources>; readonly asOfMs: number };

/** Returns the buckets, and the rows between them, for a period; null: rows alone. */
export async function findSources(
  tx: TransactionSql,
  organizationId: string,
  plan: Plan,
  { range, begins }: Period,
): Promise<FoundSources | null> {
  let asOfMs = Number.POSITIVE_INFINITY;
  const segmentsOf = async (family: FamilyName, isNeeded: boolean) => {
    if (!isNeeded) return [];
    const planned = await planRollups(tx, organizationId, { family, ...range, boundariesMs: begins });
    if (planned === null) return [{ grainSeconds: 'rows' as const, ...range }];
    asOfMs = Math.min(asOfMs, planned.asOfMs);
    return planned.segments;
  };
  const totals = await segmentsOf('totals', true);
  const scores = await segmentsOf('scores', plan.scores !== null);
  const values = await segmentsOf('values', plan.values !== null);
  if (!hasBuckets(plan.values === null ? [...totals, ...scores] : values)) return null;
  // Roll-ups of users have every user.
  if (plan.values?.dimension === 'property') {
    const statement = othersStatement(organizationId, plan.values, values);
    const [row] = await runStatement<{ hasOthers: boolean }>(tx, statement);
    if (row!.hasOthers) return null;
  }
  return { sources: { plan, totals, scores, values }, asOfMs };
}
