/**
 * Entries that are larger than a message may be come in parts, which may reach different processes: they meet in a table.
 * Whoever stores the last one puts the entry together; when two think they did, both store the same record.
 */

import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { type EntryPart, joinParts } from '#platform/log-pipeline/stream/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

/**
 * Stores a part, and returns the entry when all of its parts are there, else null.
 * @param origin the entry's place, which names it
 * @throws MalformedMessageError when the parts do not make an entry
 */
export async function storePart(sql: Sql, origin: string, part: EntryPart): Promise<LogEntry | null> {
  const { index, count, cutBytes, bytes } = part;
  await sql`
    insert into assay.entry_parts (origin, cut_bytes, part, bytes)
    values (${origin}, ${cutBytes}, ${index}, ${bytes})
    on conflict do nothing`;
  const [row] = await sql<{ there: number }[]>`
    select count(*)::int as there from assay.entry_parts where origin = ${origin} and cut_bytes = ${cutBytes}`;
  if (row!.there < count) return null;
  const parts = await sql<{ bytes: Buffer }[]>`
    select bytes from assay.entry_parts where origin = ${origin} and cut_bytes = ${cutBytes} order by part`;
  // Gone again: another process has stored the entry in the meantime.
  return parts.length < count ? null : joinParts(parts.map((one) => one.bytes));
}

/** Forgets the parts of an entry, in the transaction that stores it. */
export async function dropParts(tx: TransactionSql, origin: string): Promise<void> {
  await tx`delete from assay.entry_parts where origin = ${origin}`;
}
