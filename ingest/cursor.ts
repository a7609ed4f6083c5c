/** The cursor of an outbox: the position up to which its entries are stored. It moves in the transaction that stores them. */
import type { OutboxPosition } from '#platform/log-pipeline/outbox/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { BatchOvertakenError } from './store-batch.ts';

/** Returns the cursor of an outbox; the beginning when it has none yet. */
export async function readCursor(sql: Sql, outboxId: string): Promise<OutboxPosition> {
  const [row] = await sql<{ segment: string; position: string }[]>`
    select segment, position from assay.outbox_cursors where outbox_id = ${outboxId}`;
  return row === undefined
    ? { segment: 0, offset: 0 }
    : { segment: Number(row.segment), offset: Number(row.position) };
}

/**
 * Moves a cursor over `entries` entries, which are counted, so that a gateway knows how many of its own are stored.
 * @throws BatchOvertakenError when it was not at `from`: another process has stored these entries, and the caller's
 *   transaction must not
 */
export async function moveCursor(
  tx: TransactionSql,
  outboxId: string,
  from: OutboxPosition,
  to: OutboxPosition,
  entries: number,
): Promise<void> {
  await tx`
    insert into assay.outbox_cursors (outbox_id, segment, position) values (${outboxId}, 0, 0)
    on conflict do nothing`;
  const moved = await tx`
    update assay.outbox_cursors
       set segment = ${to.segment}, position = ${to.offset}, entries = entries + ${entries}, updated_at = now()
     where outbox_id = ${outboxId} and segment = ${from.segment} and position = ${from.offset}`;
  if (moved.count !== 1) throw new BatchOvertakenError();
}

/** Deletes the cursor of an outbox that was removed. */
export async function dropCursor(sql: Sql, outboxId: string): Promise<void> {
  await sql`delete from assay.outbox_cursors where outbox_id = ${outboxId}`;
}
