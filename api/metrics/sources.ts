/** Finds the sources of a period for a plan of roll-ups. */
import type { FamilyName, Segment } from '#core/rollups/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { isOfDays, planRollups } from '#platform/rollups/mod.ts';
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
  // Null: which days are up to date is not known.
  let staleDays: ReadonlySet<number> | null = null;
  const segmentsOf = async (family: FamilyName, isNeeded: boolean) => {
    if (!isNeeded) return [];
    const planned = await planRollups(tx, organizationId, { family, ...range, boundariesMs: begins });
    if (planned === null) return [{ grainSeconds: 'rows' as const, ...range }];
    asOfMs = Math.min(asOfMs, planned.asOfMs);
    if (family === 'values' && planned.isCurrent) staleDays = planned.stale.get(DAY_MS / 1_000)!;
    return planned.segments;
  };
  const totals = await segmentsOf('totals', true);
  const scores = await segmentsOf('scores', plan.scores !== null);
  const { segments: values, subtracted } = completeFirstDay(
    await segmentsOf('values', plan.values !== null),
    staleDays,
    begins,
  );
  if (!hasBuckets(plan.values === null ? [...totals, ...scores] : values)) return null;
  // Roll-ups of users have every user.
  if (plan.values?.dimension === 'property') {
    const statement = othersStatement(organizationId, plan.values, values);
    const [row] = await runStatement<{ hasOthers: boolean }>(tx, statement);
    if (row!.hasOthers) return null;
  }
  return { sources: { plan, totals, scores, values, subtracted }, asOfMs };
}

const DAY_MS = 86_400_000;

/**
 * Replaces the rows of a range's first day by the whole day, and subtracts the rows of that day before the range, where they span
 * less time than those in the range: half hours of users are kept for some days only. Subtracted rows are read as they are now,
 * so the day must be up to date.
 * @param staleDays days that lack changes; null: all may
 */
function completeFirstDay(
  segments: readonly Segment[],
  staleDays: ReadonlySet<number> | null,
  begins: readonly number[],
): { segments: readonly Segment[]; subtracted: readonly Segment[] } {
  const [first, second, ...others] = segments;
  const unchanged = { segments, subtracted: [] };
  // The day must be in one bucket of the answer, and the part of it must be all that is read of it.
  if (
    staleDays === null ||
    begins.length > 1 ||
    first?.grainSeconds !== 'rows' ||
    second === undefined ||
    !isOfDays(second)
  ) {
    return unchanged;
  }
  const dayMs = first.toMs - DAY_MS;
  if (first.fromMs - dayMs >= first.toMs - first.fromMs || staleDays.has(dayMs)) return unchanged;
  return {
    segments: [{ ...second, fromMs: dayMs }, ...others],
    subtracted: [{ ...first, fromMs: dayMs, toMs: first.fromMs }],
  };
}
