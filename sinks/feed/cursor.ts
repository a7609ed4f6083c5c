/** A sink's cursor in the feed: the last change that it has applied. */
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Change } from './sink.ts';

/** A position in the feed, as texts: a transaction's number, and the number of a change. */
export type Position = { xid: string; seq: string };

/** `position` is null for a sink that must resume by a scan. */
type Cursor = { state: 'new' | 'running' | 'behind'; position: Position | null };

/** Registers a sink that is not known yet. */
export async function registerSink(sql: Sql, name: string): Promise<void> {
  await sql`
    insert into assay.sinks (name, cluster) values (${name}, assay.cluster_identifier()) on conflict do nothing`;
}

export async function readCursor(sql: Sql, name: string): Promise<Cursor> {
  const [row] = await sql<{ state: Cursor['state']; xid: string; seq: string }[]>`
    select state, cursor_xid::text as xid, cursor_seq::text as seq from assay.sinks where name = ${name}`;
  if (row === undefined) throw new Error(`The sink ${name} is not registered`);
  const { state, xid, seq } = row;
  return { state, position: state === 'running' ? { xid, seq } : null };
}

/** Limits of one read: changes, and keys in them. */
export type BatchSize = { changes: number; keys: number };

/** A change with its position. */
export type ReadChange = Change & { xid: string };

/** Reads the changes after a position, of transactions before which none is open. */
export async function readChanges(sql: Sql, after: Position, size: BatchSize): Promise<ReadChange[]> {
  type Row = Omit<ReadChange, 'keys'> & { createdAts: Date[]; requestIds: string[] };
  const rows = await sql<Row[]>`
    select xid::text, seq::text, organization_id as "organizationId", at, kind, created_ats as "createdAts",
           request_ids as "requestIds", details
      from assay.read_changes(${after.xid}::xid8, ${after.seq}::int8, ${size.changes}::int4, ${size.keys}::int4)`;
  return rows.map(({ createdAts, requestIds, ...row }) => {
    const keys = requestIds.map((requestId, index) => ({ createdAt: createdAts[index]!, requestId }));
    return { ...row, keys } as ReadChange;
  });
}

/** Returns whether there are committed changes after a position, although they may not be read yet. */
export async function hasChanges(sql: Sql, { xid, seq }: Position): Promise<boolean> {
  const rows = await sql`
    select from assay.changes where (xid, seq) > (${xid}::xid8, ${seq}::int8) order by xid, seq limit 1`;
  return rows.length > 0;
}

/**
 * Locks a cursor until the transaction ends. Returns false when another process holds it, or has moved it since it was read.
 */
export async function lockCursor(tx: TransactionSql, name: string, { xid, seq }: Position): Promise<boolean> {
  const rows = await tx`
    select from assay.sinks
     where name = ${name} and state = 'running' and cursor_xid = ${xid}::xid8 and cursor_seq = ${seq}::int8
       for update skip locked`;
  return rows.length > 0;
}

/** Moves a locked cursor behind these changes. */
export async function moveCursor(
  tx: TransactionSql,
  name: string,
  changes: readonly ReadChange[],
): Promise<void> {
  const { xid, seq } = changes.at(-1)!;
  const latest = new Date(Math.max(...changes.map(({ at }) => at.getTime())));
  await tx`
    update assay.sinks
       set cursor_xid = ${xid}::xid8, cursor_seq = ${seq}::int8, cursor_at = greatest(cursor_at, ${latest}),
           failures = 0, last_error = null, updated_at = now()
     where name = ${name}`;
}

/** Position at which a sink that resumes by a scan goes on, and the time from which its effect must be brought up to date. */
export type Resumption = { position: Position; sinceMs: number | null };

/**
 * Locks the cursor of a sink that must resume by a scan. Returns null when another process holds it, or has resumed the sink.
 * Later statements see everything that was committed before the position; later commits lie behind it.
 */
export async function lockResumption(tx: TransactionSql, name: string): Promise<Resumption | null> {
  const [row] = await tx<{ cursorAt: Date | null; xid: string }[]>`
    select cursor_at as "cursorAt", pg_snapshot_xmin(pg_current_snapshot())::text as xid
      from assay.sinks where name = ${name} and state <> 'running' for update skip locked`;
  if (row === undefined) return null;
  const { cursorAt, xid } = row;
  return {
    position: { xid, seq: '0' },
    sinceMs: cursorAt === null ? null : cursorAt.getTime() - LONGEST_TRANSACTION_MS,
  };
}

/**
 * Longest time expected between the beginning of a transaction, which its changes carry, and its first write, which orders
 * them.
 */
const LONGEST_TRANSACTION_MS = 600_000;

export async function noteResumed(tx: TransactionSql, name: string, { xid, seq }: Position): Promise<void> {
  await tx`
    update assay.sinks
       set state = 'running', cursor_xid = ${xid}::xid8, cursor_seq = ${seq}::int8, cursor_at = now(),
           cluster = assay.cluster_identifier(), failures = 0, last_error = null, resumed_at = now(), updated_at = now()
     where name = ${name}`;
}

/** Notes the failure of a sink, unless another process is running it. */
export async function noteFailure(sql: Sql, name: string, error: string): Promise<void> {
  await sql`
    update assay.sinks set failures = failures + 1, last_error = ${error}, updated_at = now()
     where name = (select name from assay.sinks where name = ${name} for update skip locked)`;
}
