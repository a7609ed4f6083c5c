/** The statements of review queues, each within one organization: `tx` is of the role `assay_api`. */
import { storableJson } from '#core/json/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';
import type { RequestKey } from '../requests/mod.ts';

export type QueueRow = {
  queue_id: string;
  name: string;
  criterion_ids: string[];
  source: unknown;
  per_item: number;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
};

const columns = (tx: TransactionSql) => tx`
  queue_id, name, criterion_ids::text[] as criterion_ids, source, per_item, created_at, updated_at, archived_at`;

/** Makes the changes of an organization's queues wait for each other until the transaction ends. */
export async function lockQueues(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `review_queues ${organizationId}`);
}

/** Lists queues that are archived, or those that are not; the newest first. */
export function listQueues(
  tx: TransactionSql,
  organizationId: string,
  isArchived: boolean,
  limit: number,
): Promise<QueueRow[]> {
  return tx<QueueRow[]>`
    select ${columns(tx)} from assay.review_queues
    where organization_id = ${organizationId} and (archived_at is not null) = ${isArchived}
    order by created_at desc, queue_id desc limit ${limit}`;
}

export async function findQueue(
  tx: TransactionSql,
  organizationId: string,
  queueId: string,
): Promise<QueueRow | undefined> {
  const [row] = await tx<QueueRow[]>`
    select ${columns(tx)} from assay.review_queues
    where organization_id = ${organizationId} and queue_id = ${queueId}`;
  return row;
}

export async function insertQueue(
  tx: TransactionSql,
  organizationId: string,
  queue: Pick<QueueRow, 'queue_id' | 'name' | 'criterion_ids' | 'source' | 'per_item'> & {
    foldedName: string;
    at: Date;
  },
): Promise<QueueRow> {
  const { queue_id, name, foldedName, criterion_ids, source, per_item, at } = queue;
  const [row] = await tx<[QueueRow]>`
    insert into assay.review_queues
      (queue_id, organization_id, name, folded_name, criterion_ids, source, per_item, created_at, updated_at)
    values (${queue_id}, ${organizationId}, ${name}, ${foldedName}, ${criterion_ids}::uuid[],
      ${storableJson(source).text}::text::jsonb, ${per_item}, ${at}, ${at})
    returning ${columns(tx)}`;
  return row;
}

/** Inserts the items of a queue, in their order. */
export async function insertItems(
  tx: TransactionSql,
  organizationId: string,
  queueId: string,
  keys: readonly RequestKey[],
): Promise<void> {
  const times = keys.map(({ created_at }) => created_at.toISOString());
  const ids = keys.map(({ request_id }) => request_id);
  await tx`
    insert into assay.review_items (queue_id, position, organization_id, created_at, request_id)
    select ${queueId}, k.position, ${organizationId}, k.created_at::timestamptz, k.request_id
    from unnest(${times}::text[], ${ids}::text[]) with ordinality as k (created_at, request_id, position)`;
}

export async function renameQueue(
  tx: TransactionSql,
  organizationId: string,
  { queueId, name, foldedName, at }: { queueId: string; name: string; foldedName: string; at: Date },
): Promise<QueueRow> {
  const [row] = await tx<[QueueRow]>`
    update assay.review_queues set name = ${name}, folded_name = ${foldedName}, updated_at = ${at}
    where organization_id = ${organizationId} and queue_id = ${queueId}
    returning ${columns(tx)}`;
  return row;
}

/** Archives a queue; returns whether there is one. One that is archived stays as it is. */
export async function archiveQueue(
  tx: TransactionSql,
  organizationId: string,
  queueId: string,
  at: Date,
): Promise<boolean> {
  const updated = await tx`
    update assay.review_queues set archived_at = coalesce(archived_at, ${at})
    where organization_id = ${organizationId} and queue_id = ${queueId} returning 1`;
  return updated.length === 1;
}

/** Lists those criteria of a queue that are not archived. */
export async function livingCriteria(
  tx: TransactionSql,
  organizationId: string,
  { criterion_ids }: QueueRow,
): Promise<string[]> {
  const rows = await tx<{ criterion_id: string }[]>`
    select criterion_id from assay.criteria
    where organization_id = ${organizationId} and criterion_id = any(${criterion_ids}::uuid[]) and archived_at is null`;
  const living = new Set(rows.map(({ criterion_id }) => criterion_id));
  return criterion_ids.filter((id) => living.has(id));
}
