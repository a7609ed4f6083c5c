/**
 * Entries above the size limit of messages arrive in parts, which may reach different processes and are collected in a
 * table. The process that stores the last part joins the entry; when two processes do, both store the same record.
 */

import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { type EntryPart, joinParts } from '#platform/log-pipeline/stream/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

/**
 * Stores a part, and returns the entry when all of its parts are there, else null.
 * @param origin the entry's origin, which identifies it
 * @throws MalformedMessageError when the parts do not make an entry
 */
export async function storePart(sql: Sql, origin: string, part: EntryPart): Promise<LogEntry | null> {
  const { index, count, cutBytes, bytes } = part;
  // One that comes again becomes a new version of its row: others of its entry are on their way (stray-parts.ts).
  await sql`
    insert into assay.entry_parts (origin, cut_bytes, part, bytes)
    values (${origin}, ${cutBytes}, ${index}, ${bytes})
    on conflict (origin, cut_bytes, part) do update set part = excluded.part`;
  const [row] = await sql<{ there: number }[]>`
    select count(*)::int as there from assay.entry_parts where origin = ${origin} and cut_bytes = ${cutBytes}`;
  if (row!.there < count) return null;
  const parts = await sql<{ bytes: Buffer }[]>`
    select bytes from assay.entry_parts where origin = ${origin} and cut_bytes = ${cutBytes} order by part`;
  // Some parts are gone: another process has stored the entry in the meantime.
  return parts.length < count ? null : joinParts(parts.map((one) => one.bytes));
}

/** Deletes the parts of an entry, in the transaction that stores it. */
export async function dropParts(tx: TransactionSql, origin: string): Promise<void> {
  await tx`delete from assay.entry_parts where origin = ${origin}`;
}
