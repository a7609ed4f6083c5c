/**
 * Dead letters: entries that cannot be stored, kept unchanged with the reason, so that they hold up no other entries. A
 * letter is identified by its bytes, not by its origin: an entry that is delivered again adds none.
 */
import { decodeEntry, encodeEntry } from '#core/contracts/dead-letter-codec.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { OutboxPosition } from '#platform/log-pipeline/outbox/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

/** A letter to store. */
export type DeadLetter = {
  /** Outbox, segment and position of the entry, or the stream whose message brought it. For operators. */
  origin: string;
  organizationId: string | null;
  requestId: string | null;
  reason: string;
  /** The bytes of `encodeEntry`; the bytes found there for a damaged stretch of an outbox. */
  entry: Buffer;
};

/** Returns the origin of an entry at this position of an outbox. */
export function originOf(outboxId: string, { segment, offset }: OutboxPosition): string {
  return `${outboxId}/${segment}/${offset}`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Characters. An unchecked head may hold a request id of any length. */
const LONGEST_REQUEST_ID = 200;
/** Characters. An error's message may quote a value of any length. */
const LONGEST_REASON = 2_000;

/** Reads the owner from an unchecked head; null where the head has none. */
function ownerOf(head: Uint8Array): Pick<DeadLetter, 'organizationId' | 'requestId'> {
  try {
    const { id, organizationId } = JSON.parse(Buffer.from(head).toString('utf8')) as Record<string, unknown>;
    return {
      organizationId: typeof organizationId === 'string' && UUID.test(organizationId) ? organizationId : null,
      requestId: typeof id === 'string' ? storableText(id.slice(0, LONGEST_REQUEST_ID)) : null,
    };
  } catch {
    return { organizationId: null, requestId: null };
  }
}

/** Returns the letter of an entry that cannot be stored for this reason. */
export function deadLetterOf(entry: LogEntry & { origin: string }, reason: string): DeadLetter {
  return { ...ownerOf(entry.head), origin: entry.origin, reason, entry: encodeEntry(entry) };
}

/** Returns a reason as Postgres can hold it: an error's message may quote the very bytes that Postgres refused. */
export function storableReason(reason: string): string {
  return storableText(reason.slice(0, LONGEST_REASON));
}

/** Stores a letter, unless it is stored already. */
export async function insertDeadLetter(tx: TransactionSql, letter: DeadLetter): Promise<void> {
  await tx`
    insert into assay.dead_letters (origin, organization_id, request_id, reason, entry)
    values (${letter.origin}, ${letter.organizationId}, ${letter.requestId}, ${storableReason(letter.reason)},
            ${letter.entry})
    on conflict do nothing`;
}

/** Returns the newest letters, of one organization if one is given, and the number of all. */
export async function listDeadLetters(
  sql: Sql,
  { organizationId, limit }: { organizationId: string | null; limit: number },
) {
  const wanted = sql`${organizationId}::uuid is null or organization_id = ${organizationId}`;
  const letters = await sql<
    {
      id: string;
      createdAt: Date;
      /** Its name; its id when no organization has that id; null when the entry names none. */
      organization: string | null;
      requestId: string | null;
      reason: string;
      bytes: number;
    }[]
  >`
    select dead_letter_id as id, d.created_at as "createdAt", coalesce(name, organization_id::text) as organization,
           request_id as "requestId", reason, octet_length(entry) as bytes
      from assay.dead_letters d left join assay.organizations using (organization_id)
     where ${wanted} order by dead_letter_id desc limit ${limit}`;
  const [all] = await sql<{ count: number }[]>`
    select count(*)::int as count from assay.dead_letters where ${wanted}`;
  return { letters: [...letters], total: all!.count };
}

/** Letters are counted up to this number. */
const MOST_COUNTED = 10_000;

/** Returns the number of all letters, up to 10,000. */
export async function countDeadLetters(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from (select from assay.dead_letters limit ${MOST_COUNTED}) letters`;
  return row!.count;
}

/** Returns a letter with its entry; null when there is none with this id. */
export async function findDeadLetter(sql: Sql, id: string) {
  const [letter] = await sql<
    {
      createdAt: Date;
      organization: string | null;
      organizationId: string | null;
      requestId: string | null;
      origin: string;
      reason: string;
      bytes: Buffer;
    }[]
  >`
    select d.created_at as "createdAt", coalesce(name, organization_id::text) as organization,
           organization_id as "organizationId", request_id as "requestId", origin, reason, entry as bytes
      from assay.dead_letters d left join assay.organizations using (organization_id)
     where dead_letter_id = ${id}`;
  return letter === undefined ? null : { ...letter, entry: decodeEntry(letter.bytes) };
}

/** Deletes one letter, or all of them (`id` null), and notes it in the audit log. Returns the number of deleted letters. */
export async function dropDeadLetters(sql: Sql, id: string | null): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select assay.drop_dead_letters(${id}::bigint, null) as count`;
  return row!.count;
}
