/** Statements about the dead letters of the transaction's organization; see platform/postgres/functions/dead_letters.sql. */
import type { EntryRange } from '#core/contracts/dead-letter-codec.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

export type LetterRow = {
  id: string;
  created_at: Date;
  request_id: string | null;
  origin: string;
  reason: string;
  /** Bytes of the entry. */
  size: number;
  /** Its first bytes. */
  beginning: Buffer;
};

/** Null: all. */
export type LettersWanted = {
  id: string | null;
  before: string | null;
  reason: string | null;
  limit: number;
  beginningBytes: number;
};

/** Lists letters, newest first. */
export function selectLetters(
  tx: TransactionSql,
  { id, before, reason, limit, beginningBytes }: LettersWanted,
): Promise<LetterRow[]> {
  return tx<LetterRow[]>`
    select dead_letter_id::text as id, created_at, request_id, origin, reason, size, beginning
      from assay.list_dead_letters(${id}::bigint, ${before}::bigint, ${reason}::text, ${limit}, ${beginningBytes})`;
}

/** Returns bytes of the entry of a letter, `most` at most. */
export async function selectBytes(
  tx: TransactionSql,
  id: string,
  { start, end }: EntryRange,
  most: number,
): Promise<Buffer> {
  const [row] = await tx<{ bytes: Buffer | null }[]>`
    select assay.dead_letter_bytes(${id}::bigint, ${start}, ${Math.min(most, end - start)}) as bytes`;
  return row?.bytes ?? Buffer.alloc(0);
}

/** Deletes a letter. Returns whether there was one. */
export async function deleteLetter(tx: TransactionSql, id: string): Promise<boolean> {
  const [row] = await tx<{ gone: boolean }[]>`select assay.drop_dead_letter(${id}::bigint) as gone`;
  return row!.gone;
}
