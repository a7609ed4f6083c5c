/**
 * Recomputes stale buckets: a number of them at a time, in one transaction, under a lock that one process has at a time.
 *
 * That no change is lost rests on the order of the statements, each of which has a snapshot of its own (read committed):
 *
 * 1. The marks are read. A mark is committed after the changes that it stands for, so whatever made a mark that is seen here is
 *    seen by the later statements too. For a coarse bucket: it has no stale parts, so what made its mark is in its parts' cells.
 * 2. Its cells are computed and replaced.
 * 3. Each mark is removed if it is still the one of step 1. A change after step 1 makes another mark, which stays; if its
 *    transaction is open, the removal waits for it.
 *
 * A bucket may be computed with some changes whose mark comes later; then it is computed once more. A process that dies in
 * between leaves everything as it was.
 */
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { CELLS, type CellTable } from './cells/mod.ts';
import { type DueBucket, isDue, type Task } from './tasks.ts';

/** Recomputation must not hold up ingest: it has one core of Postgres at most. */
const SETTINGS = `
  set local max_parallel_workers_per_gather = 0;
  set local work_mem = '32MB'`;

/** Recomputed buckets; null when another process is recomputing. */
export type Recomputed = { buckets: readonly DueBucket[] } | null;

/** Thrown when retention began to drop a week while its buckets were recomputed: they keep their sums. */
class WeekDroppedError extends Error {}

export type RecomputeOptions = {
  sql: Sql;
  task: Task;
  /** Maximum buckets. */
  limit: number;
  /** False: without waiting until buckets are quiet, for a rebuild. */
  isPatient: boolean;
  /** Null: all. */
  organizationId: string | null;
  /** Organizations whose buckets are left out; absent: none. */
  besides?: readonly string[];
  /** Leaves buckets out that were marked later; absent: none. */
  newestMark?: string;
  /** Receives the buckets before they are computed, so that a failure can name them. */
  onDue?(buckets: readonly DueBucket[]): void;
};

/**
 * Recomputes the due buckets of a task that were marked first.
 * @throws errors of Postgres; then nothing has changed
 */
export async function recompute(options: RecomputeOptions): Promise<Recomputed> {
  try {
    return await options.sql.begin('isolation level read committed', async (tx) => {
      await tx.unsafe(SETTINGS);
      const [lock] = await tx`select pg_try_advisory_xact_lock(hashtext('assay.rollups')) as taken`;
      if (lock?.taken !== true) return null;
      const buckets = await findDue(tx, options);
      if (buckets.length === 0) return { buckets };
      options.onDue?.(buckets);
      await replaceCells(tx, options.task, buckets);
      await checkWeeks(tx, buckets);
      await removeMarks(tx, options.task, buckets);
      return { buckets };
    });
  } catch (error) {
    if (error instanceof WeekDroppedError) return { buckets: [] };
    throw error;
  }
}

/** Finds the oldest marks first, so that no bucket waits for ever; among marks made together, the latest buckets. */
function findDue(
  tx: TransactionSql,
  { task, limit, isPatient, organizationId, besides = [], newestMark }: RecomputeOptions,
): Promise<DueBucket[]> {
  return tx<DueBucket[]>`
    select stale.organization_id as "organizationId", stale.begins_at as "beginsAt", stale.mark
      from assay.rollup_stale stale
     where ${isDue(tx, task, isPatient)}
       and (${organizationId}::uuid is null or stale.organization_id = ${organizationId}::uuid)
       and stale.organization_id <> all(${[...besides]}::uuid[])
       ${newestMark === undefined ? tx`` : tx`and stale.mark <= ${newestMark}::bigint`}
     order by stale.first_marked_at, stale.begins_at desc, stale.organization_id
     limit ${limit}`;
}

type Columns = [organizations: string[], beginnings: string[]];

function columnsOf(buckets: readonly DueBucket[]): Columns {
  return [
    buckets.map(({ organizationId }) => organizationId),
    buckets.map(({ beginsAt }) => beginsAt.toISOString()),
  ];
}

/** Returns the statement that adds cells to all tables of a family. */
function insertCells(task: Task): string {
  const { tables, fromRows, fromParts } = CELLS[task.family];
  const inserts = tables.map(({ table, from, columns }) => {
    const names = columns.join(', ');
    return `insert into assay.${table} (grain_seconds, ${names}) select $3::integer, ${names} from ${from}`;
  });
  const others = inserts.slice(1).map((insert, index) => `, other_${index} as (${insert})`);
  return `with ${task.partSeconds === null ? fromRows : fromParts}${others.join('')} ${inserts[0]}`;
}

/** Rows are looked up bucket by bucket, and deleted by their place: "offset 0" as in cells/cells.ts. */
function deleteOldCells({ table, columns }: CellTable): string {
  const ofLevel = columns.includes('level')
    ? `and level = any('{source,model,status,api_key,prompt,path}')`
    : '';
  return `
    delete from assay.${table}
     where grain_seconds = $3::integer and ctid = any(array(
       select found.place
         from unnest($1::uuid[], $2::timestamptz[]) as due (organization_id, begins_at)
        cross join lateral (
          select ctid as place from assay.${table}
           where organization_id = due.organization_id and grain_seconds = $3::integer ${ofLevel}
             and begins_at = due.begins_at and xmin <> pg_current_xact_id()::xid offset 0) found))`;
}

/**
 * Inserts new cells before it deletes the old ones, which it recognizes by the transaction that wrote them: so this transaction
 * gets a number only when the sums are computed, and until then holds up no sink; sinks wait for all transactions with a
 * number.
 */
async function replaceCells(tx: TransactionSql, task: Task, buckets: readonly DueBucket[]): Promise<void> {
  const columns = columnsOf(buckets);
  const parts = task.partSeconds === null ? [] : [task.partSeconds];
  await tx.unsafe(insertCells(task), [...columns, task.grainSeconds, ...parts]);
  for (const table of CELLS[task.family].tables) {
    await tx.unsafe(deleteOldCells(table), [...columns, task.grainSeconds]);
  }
}

/** @throws WeekDroppedError unless all rows were still there when the cells were computed: a dropped week never comes back */
async function checkWeeks(tx: TransactionSql, buckets: readonly DueBucket[]): Promise<void> {
  const [, beginnings] = columnsOf(buckets);
  const dropped = await tx`
    select from unnest(${beginnings}::timestamptz[]) as begins_at
     where date_trunc('week', begins_at, 'UTC') not in (select assay.rollup_weeks()) limit 1`;
  if (dropped.length > 0) throw new WeekDroppedError();
}

/** Locks the marks in the order in which they are made, so that it cannot deadlock with the sink. */
async function removeMarks(
  tx: TransactionSql,
  { family, grainSeconds }: Task,
  buckets: readonly DueBucket[],
): Promise<void> {
  const [organizations, beginnings] = columnsOf(buckets);
  await tx`
    with seen as (
      select stale.organization_id, stale.begins_at, stale.mark
        from assay.rollup_stale stale
        join unnest(${organizations}::uuid[], ${beginnings}::timestamptz[], ${buckets.map(({ mark }) => mark)}::bigint[])
             as seen (organization_id, begins_at, mark)
          on seen.organization_id = stale.organization_id and seen.begins_at = stale.begins_at and seen.mark = stale.mark
       where stale.family = ${family} and stale.grain_seconds = ${grainSeconds}
       order by stale.organization_id, stale.begins_at
         for update of stale)
    delete from assay.rollup_stale stale using seen
     where stale.organization_id = seen.organization_id and stale.family = ${family}
       and stale.grain_seconds = ${grainSeconds} and stale.begins_at = seen.begins_at and stale.mark = seen.mark`;
}
