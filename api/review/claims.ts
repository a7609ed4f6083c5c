/**
 * Gives items to people. A claim is in the row of its item, so that the lock of the row decides: of two people who ask at
 * once, the second passes over the row that the first has locked, and a row that was claimed meanwhile is looked at again
 * before it is given away.
 */
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Person } from '../grades/mod.ts';

/** The queue, by criteria of which there is at least one, and the person who asks. */
export type Asked = {
  organizationId: string;
  queueId: string;
  criterionIds: readonly string[];
  perItem: number;
  person: string;
  /** A request that is not asked for; null: any item is. */
  besides: string | null;
  at: Date;
};

export type Item = { position: number; request_id: string };

/** Selects the people who graded an item `i` by all criteria. */
const graders = (tx: TransactionSql, { organizationId, criterionIds }: Asked) => tx`
  select g.person from assay.grades g
  where g.organization_id = ${organizationId} and g.request_id = i.request_id
    and g.criterion_id = any(${[...criterionIds]}::uuid[])
  group by g.person having count(*) = ${criterionIds.length}`;

/** Items that a person may grade: not done by them, not skipped, and not wanted by enough others; all but the one besides which they ask. */
const isOpen = (tx: TransactionSql, asked: Asked) => tx`
  i.organization_id = ${asked.organizationId} and i.queue_id = ${asked.queueId}
  and i.request_id is distinct from ${asked.besides}
  and not exists (
    select from assay.review_skips s
    where s.queue_id = i.queue_id and s.request_id = i.request_id and s.person = ${asked.person})
  and (
    select count(*) from assay.grades g
    where g.organization_id = ${asked.organizationId} and g.request_id = i.request_id
      and g.criterion_id = any(${[...asked.criterionIds]}::uuid[]) and g.person = ${asked.person}
  ) < ${asked.criterionIds.length}
  and (
    select count(*) from (
      ${graders(tx, asked)}
      union
      select c.person from unnest(i.claimed_by, i.claimed_until) as c (person, until)
      where c.until > ${asked.at} and c.person <> ${asked.person}
    ) taken
  ) < ${asked.perItem}`;

/** Locks the item that a person has claimed and not graded; there is one when they ask again. */
async function lockOwn(tx: TransactionSql, asked: Asked): Promise<Item | undefined> {
  const [item] = await tx<Item[]>`
    select i.position, i.request_id from assay.review_items i
    where i.claimed_by @> array[${asked.person}::text]
      and exists (
        select from unnest(i.claimed_by, i.claimed_until) as c (person, until)
        where c.person = ${asked.person} and c.until > ${asked.at})
      and ${isOpen(tx, asked)}
    order by i.position limit 1 for update of i`;
  return item;
}

/** Locks the first open item. Passes over those that others have locked, unless it is told to wait for them. */
async function lockOpen(tx: TransactionSql, asked: Asked, waits: boolean): Promise<Item | undefined> {
  const [item] = await tx<Item[]>`
    select i.position, i.request_id from assay.review_items i
    where ${isOpen(tx, asked)}
    order by i.position limit 1 for update of i ${waits ? tx`` : tx`skip locked`}`;
  return item;
}

/** Sets or, with null, ends a person's claim of items, and drops those that ran out. */
async function setClaim(
  tx: TransactionSql,
  { queueId, person, at }: Pick<Asked, 'queueId' | 'person' | 'at'>,
  requestId: string,
  until: Date | null,
): Promise<void> {
  const others = tx`
    from unnest(i.claimed_by, i.claimed_until) as c (person, until)
    where c.until > ${at} and c.person <> ${person} order by c.until, c.person`;
  const isSet = until !== null;
  await tx`
    update assay.review_items i
    set claimed_by = array(select c.person ${others}) || ${isSet ? [person] : []}::text[],
      claimed_until = array(select c.until ${others}) || ${isSet ? [until.toISOString()] : []}::text[]::timestamptz[]
    where i.queue_id = ${queueId} and i.request_id = ${requestId}`;
}

/** Makes a person's calls of one queue wait for each other until the transaction ends: two at once would claim two items. */
async function lockPerson(tx: TransactionSql, { queueId, person }: Asked): Promise<void> {
  await lockName(tx, `review_claims ${queueId} ${person}`);
}

/**
 * Claims the next item for a person, or renews the claim that they have. Besides an item they get one more, and no third: whoever
 * asks besides either of two has claimed the other.
 */
export async function claimNext(tx: TransactionSql, asked: Asked, until: Date): Promise<Item | undefined> {
  await lockPerson(tx, asked);
  // An item that is locked may have room for another person: nobody is told that there is nothing before it is looked at.
  const item =
    (await lockOwn(tx, asked)) ?? (await lockOpen(tx, asked, false)) ?? (await lockOpen(tx, asked, true));
  if (item !== undefined) await setClaim(tx, asked, item.request_id, until);
  return item;
}

/** Lists the criteria by which a person has not graded a request, in the order of the queue. */
export async function missingCriteria(
  tx: TransactionSql,
  { organizationId, criterionIds, person }: Asked,
  requestId: string,
): Promise<string[]> {
  const rows = await tx<{ criterion_id: string }[]>`
    select criterion_id from assay.grades
    where organization_id = ${organizationId} and request_id = ${requestId} and person = ${person}
      and criterion_id = any(${[...criterionIds]}::uuid[])`;
  const graded = new Set(rows.map(({ criterion_id }) => criterion_id));
  return criterionIds.filter((id) => !graded.has(id));
}

/** Notes that a person skips an item, and ends their claim; returns whether the queue has the item. */
export async function skipItem(
  tx: TransactionSql,
  skip: { organizationId: string; queueId: string; requestId: string; reason: string | null; at: Date },
  { person, author, keyId }: Person,
): Promise<boolean> {
  const { organizationId, queueId, requestId, reason, at } = skip;
  const found = await tx`
    select 1 from assay.review_items
    where organization_id = ${organizationId} and queue_id = ${queueId} and request_id = ${requestId} for update`;
  if (found.length === 0) return false;
  await tx`
    insert into assay.review_skips
      (queue_id, request_id, person, organization_id, key_id, author, reason, skipped_at)
    values (${queueId}, ${requestId}, ${person}, ${organizationId}, ${keyId}, ${author}, ${reason}, ${at})
    on conflict (queue_id, request_id, person)
      do update set key_id = excluded.key_id, reason = excluded.reason, skipped_at = excluded.skipped_at`;
  await setClaim(tx, { queueId, person, at }, requestId, null);
  return true;
}
