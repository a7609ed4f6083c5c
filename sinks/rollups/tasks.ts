/** The kinds of recomputation: each family and grain, from rows or from the cells of the next finer grain. */
import { FAMILY_NAMES, type FamilyName, GRAINS } from '#core/rollups/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

export type Task = {
  family: FamilyName;
  grainSeconds: number;
  /** The seconds of the grain whose cells are added up; null: rows are. */
  partSeconds: number | null;
  /** Ages of buckets for which this holds, from inclusive, in milliseconds; null: without bound. */
  youngestMs: number | null;
  oldestMs: number | null;
};

/** Parts are added up until they are this much younger than when they are dropped. */
const PART_MARGIN_MS = 10 * 60_000;

function tasksOf(family: FamilyName): Task[] {
  return GRAINS[family].flatMap(({ seconds: grainSeconds, keptMs }, index, grains): Task[] => {
    const finer = grains[index - 1];
    const shared = { family, grainSeconds };
    if (finer === undefined) return [{ ...shared, partSeconds: null, youngestMs: null, oldestMs: keptMs }];
    const fromParts = { ...shared, partSeconds: finer.seconds, youngestMs: null };
    // Old half hours of values are made again when their day is stale.
    const arePartsThere = finer.keptMs === null || (family === 'values' && finer.seconds === 1_800);
    if (arePartsThere) return [{ ...fromParts, oldestMs: null }];
    const partsMs = finer.keptMs! - PART_MARGIN_MS;
    const oldestMs = family === 'values' && grainSeconds === 1_800 ? null : keptMs;
    return [
      { ...fromParts, oldestMs: partsMs },
      { ...shared, partSeconds: null, youngestMs: partsMs, oldestMs },
    ];
  });
}

/** Finest grains first. */
export const TASKS: readonly Task[] = FAMILY_NAMES.flatMap(tasksOf).toSorted(
  (left, right) => left.grainSeconds - right.grainSeconds,
);

/**
 * Time that a bucket is left alone after its last change, and at most after its first, by the seconds of its grain: requests
 * are logged when they end, some of them minutes after they began, and each of them would cause a recomputation. Until then, a
 * query reads the finer buckets, or rows: at 1,000 requests a second it takes 40 ms for those of ten seconds.
 */
export const PATIENCE: Readonly<Record<number, { quietMs: number; longestMs: number }>> = {
  10: { quietMs: 1_000, longestMs: 12_000 },
  60: { quietMs: 5_000, longestMs: 75_000 },
  1800: { quietMs: 10_000, longestMs: 120_000 },
  10800: { quietMs: 30_000, longestMs: 300_000 },
  86400: { quietMs: 60_000, longestMs: 900_000 },
};

/** Returns the expression for the time from which a row `stale` of assay.rollup_stale is due, if it need not wait for its parts. */
export function dueAt(sql: Sql) {
  const grains = Object.entries(PATIENCE).map(
    ([seconds, { quietMs, longestMs }]) => sql`
      when ${Number(seconds)}::int4 then least(stale.marked_at + ${quietMs} * interval '1 ms',
                                         stale.first_marked_at + ${longestMs} * interval '1 ms')`,
  );
  return sql`greatest(stale.begins_at + stale.grain_seconds * interval '1 second', stale.postponed_until,
    case stale.grain_seconds ${grains.reduce((all, one) => sql`${all} ${one}`)} end)`;
}

/** A stale bucket, and its mark. */
export type DueBucket = { organizationId: string; beginsAt: Date; mark: string };

/**
 * Returns the condition that a row `stale` of assay.rollup_stale is due for the task. A coarse bucket waits for its parts, which are
 * looked up for each: Postgres would make a join of "not exists", and compare all marks with all while it does not know that the table,
 * which is nearly empty otherwise, has just got the marks of years.
 * @param isPatient false: as soon as the parts are done, and buckets of the present too
 */
export function isDue(sql: Sql | TransactionSql, task: Task, isPatient: boolean) {
  const { quietMs, longestMs } = PATIENCE[task.grainSeconds]!;
  const { family, grainSeconds, partSeconds, youngestMs, oldestMs } = task;
  return sql`
    stale.family = ${family} and stale.grain_seconds = ${grainSeconds}
    ${
      isPatient
        ? sql`
    and stale.begins_at + ${grainSeconds} * interval '1 second' <= now()
    and (stale.marked_at <= now() - ${quietMs} * interval '1 ms' or stale.first_marked_at <= now() - ${longestMs} * interval '1 ms')
    and (stale.postponed_until is null or stale.postponed_until <= now())`
        : sql``
    }
    ${youngestMs === null ? sql`` : sql`and stale.begins_at < now() - ${youngestMs} * interval '1 ms'`}
    ${oldestMs === null ? sql`` : sql`and stale.begins_at >= now() - ${oldestMs} * interval '1 ms'`}
    and date_trunc('week', stale.begins_at, 'UTC') = any(array(select assay.rollup_weeks()))
    ${
      partSeconds === null
        ? sql``
        : sql`
    and (
      select true from assay.rollup_stale part
       where part.organization_id = stale.organization_id and part.family = ${family} and part.grain_seconds = ${partSeconds}
         and part.begins_at >= stale.begins_at and part.begins_at < stale.begins_at + ${grainSeconds} * interval '1 second'
       limit 1) is null`
    }`;
}
