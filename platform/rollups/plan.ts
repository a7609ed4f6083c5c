/** Plans a range of time as buckets of roll-ups and rows. */
import type { ChangesOfKind } from '#core/contracts/changes.ts';
import {
  FAMILIES_OF_CHANGE,
  type FamilyName,
  GRAINS,
  planSegments,
  type Segment,
  type StaleBuckets,
} from '#core/rollups/mod.ts';
import type { TransactionSql } from '../postgres/mod.ts';

/** A range of time to be read, from its start up to, but not including, its end. */
export type WantedRange = {
  family: FamilyName;
  fromMs: number;
  toMs: number;
  /** Times that no bucket may lie across, in ascending order: the beginnings of the answer's buckets. */
  boundariesMs: readonly number[];
};

/** Plan of reading a range. */
export type RollupPlan = {
  /** In ascending order, without gaps. */
  segments: Segment[];
  /** All changes that were committed before this time are included. */
  asOfMs: number;
  /** False: the sink is so far behind that changes since `asOfMs` may be missing. */
  isCurrent: boolean;
  /** Buckets of the family that overlap the range and may not be read. */
  stale: StaleBuckets;
  /** Requests before this time may have been dropped by retention; segments of rows lack them. Null: there are no requests. */
  rowsBeginMs: number | null;
};

/** Maximum of changes not applied yet: reading more would take longer than a query may. */
const MOST_CHANGES = 5_000;

type State = {
  appliedAt: Date;
  rowsBeginAt: Date | null;
  changes: [kind: ChangesOfKind['kind'], seconds: number][] | null;
  now: Date;
};

/**
 * Plans how to read a range of the transaction's organization. In a repeatable-read transaction, the segments give the same
 * result as the rows of its snapshot: a bucket is read only when it has no mark, and no change that the sink has not applied. A
 * sink that is far behind makes `asOfMs` earlier instead.
 * @returns null while there are no roll-ups: before the sink has started for the first time
 */
export async function planRollups(
  tx: TransactionSql,
  organizationId: string,
  { family, fromMs, toMs, boundariesMs }: WantedRange,
): Promise<RollupPlan | null> {
  const [state] = await tx<State[]>`
    select applied_at as "appliedAt", rows_begin_at as "rowsBeginAt", changes, now() as now
      from assay.rollup_state(${MOST_CHANGES})`;
  if (state === undefined) return null;
  const marks = await tx<{ seconds: number; beginsMs: number }[]>`
    select grain_seconds as seconds, extract(epoch from begins_at)::float8 * 1000 as "beginsMs"
      from assay.rollup_stale
     where organization_id = ${organizationId} and family = ${family} and begins_at < ${new Date(toMs)}
       and begins_at + grain_seconds * interval '1 second' > ${new Date(fromMs)}`;
  const nowMs = state.now.getTime();
  const stale = staleBuckets(family, marks, state.changes ?? []);
  const segments = planSegments({
    fromMs,
    toMs,
    boundariesMs,
    grains: GRAINS[family],
    stale,
    nowMs,
    rowsFromMs: nowMs,
  });
  return {
    segments,
    stale,
    isCurrent: state.changes !== null,
    asOfMs: state.changes === null ? state.appliedAt.getTime() : nowMs,
    rowsBeginMs: state.rowsBeginAt?.getTime() ?? null,
  };
}

function staleBuckets(
  family: FamilyName,
  marks: readonly { seconds: number; beginsMs: number }[],
  changes: NonNullable<State['changes']>,
): StaleBuckets {
  const stale = new Map(GRAINS[family].map(({ seconds }) => [seconds, new Set<number>()]));
  for (const { seconds, beginsMs } of marks) stale.get(seconds)?.add(beginsMs);
  for (const [kind, atSeconds] of changes) {
    if (!FAMILIES_OF_CHANGE[kind].includes(family)) continue;
    for (const [seconds, begins] of stale) begins.add(Math.floor(atSeconds / seconds) * seconds * 1_000);
  }
  return stale;
}
