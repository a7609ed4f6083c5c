/** Deliveries of webhooks: listing and redelivery. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import {
  DELIVERY_PAGE,
  DELIVERY_STATES,
  type DeliveriesQuery,
  type DeliveryAttempt,
  type DeliveryEvent,
  type DeliveryJson,
  type DeliveryPage,
  type DeliveryState,
  MAX_PENDING_DELIVERIES,
  type RedeliveredJson,
  TEST_EVENT,
} from '#core/contracts/webhook.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** A webhook of the caller's organization. */
export type OwnWebhook = { organizationId: string; webhookId: string };

type DeliveryRow = {
  delivery_id: string;
  event: DeliveryEvent;
  event_at: Date;
  request_id: string | null;
  state: DeliveryState;
  due_at: Date;
  tries: DeliveryAttempt[];
  reason: string | null;
  finished_at: Date | null;
};

const columns = (tx: TransactionSql) =>
  tx`delivery_id, event, event_at, request_id, state, due_at, tries, reason, finished_at`;

/** Returns a page of deliveries, newest first. */
export async function listDeliveries(
  tx: TransactionSql,
  { organizationId, webhookId }: OwnWebhook,
  query: DeliveriesQuery,
): Promise<DeliveryPage> {
  const { limit, after, state } = { after: null, ...query };
  const most = limit === undefined ? DELIVERY_PAGE.unlessGiven : Number(limit);
  // One row more than the page, to see whether there is another page.
  const rows = await tx<DeliveryRow[]>`
    select ${columns(tx)} from assay.webhook_deliveries
     where organization_id = ${organizationId} and webhook_id = ${webhookId}
       and (${after}::text is null or delivery_id < ${after}) ${state === undefined ? tx`` : isInState(tx, state)}
     order by delivery_id desc limit ${most + 1}`;
  const page = rows.slice(0, most);
  return {
    deliveries: page.map(deliveryJson),
    next: rows.length > most ? page.at(-1)!.delivery_id : null,
  };
}

/**
 * Writes the condition that a delivery is in a state, which is part of the text: Postgres uses an index of some states only where it knows,
 * while it plans, that no others are asked for.
 */
function isInState(tx: TransactionSql, state: DeliveryState) {
  const known = DELIVERY_STATES.find((one) => one === state);
  return tx.unsafe(`and state = '${known}'`);
}

/** Ids of deliveries: `msg_` and a ULID. */
const DELIVERY_ID = /^msg_[0-9A-Z]{26}$/;

/** Checks the id of a delivery in a path. @throws AssayError not_found */
export function readDeliveryId(id: string): string {
  if (DELIVERY_ID.test(id)) return id;
  throw unknownDelivery(id);
}

function unknownDelivery(id: string): AssayError {
  return new AssayError('not_found', `The webhook has no delivery with the id ${quoteValue(id)}`);
}

/** Returns one delivery. @throws AssayError not_found */
export async function getDelivery(
  tx: TransactionSql,
  { organizationId, webhookId }: OwnWebhook,
  deliveryId: string,
): Promise<DeliveryJson> {
  const [row] = await tx<DeliveryRow[]>`
    select ${columns(tx)} from assay.webhook_deliveries
     where organization_id = ${organizationId} and webhook_id = ${webhookId} and delivery_id = ${deliveryId}`;
  if (row !== undefined) return deliveryJson(row);
  throw unknownDelivery(deliveryId);
}

/** Inserts the delivery of a test message, due at once. */
export async function insertTest(
  tx: TransactionSql,
  { organizationId, webhookId }: OwnWebhook,
  deliveryId: string,
): Promise<void> {
  await tx`
    insert into assay.webhook_deliveries
      (webhook_id, delivery_id, organization_id, event, event_at, due_at)
    values (${webhookId}, ${deliveryId}, ${organizationId}, ${TEST_EVENT}, now(), now())`;
}

/**
 * Makes a delivery due at once, with a new schedule if it has ended. One that is being sent stays as it is.
 * @throws AssayError conflict for one that was cancelled
 */
export async function redeliver(tx: TransactionSql, webhook: OwnWebhook, deliveryId: string): Promise<void> {
  const { state } = await getDelivery(tx, webhook, deliveryId);
  if (state === 'cancelled')
    throw new AssayError('conflict', 'The delivery was cancelled, because its request is no longer there');
  const hasEnded = state === 'delivered' || state === 'failed';
  if (hasEnded) await requireRoom(tx, webhook);
  const { organizationId, webhookId } = webhook;
  await tx`
    update assay.webhook_deliveries
       set attempts = case when state = 'pending' then attempts else 0 end,
           state = 'pending', due_at = now(), finished_at = null
     where organization_id = ${organizationId} and webhook_id = ${webhookId} and delivery_id = ${deliveryId}
       and state in ('pending', 'delivered', 'failed')`;
}

/** Makes deliveries due that failed at or after a given time, the oldest first, as many as there is room for. */
export async function redeliverFailed(
  tx: TransactionSql,
  webhook: OwnWebhook,
  since: Date,
): Promise<RedeliveredJson> {
  const { organizationId, webhookId } = webhook;
  const room = await roomOf(tx, webhook);
  const { count } = await tx`
    update assay.webhook_deliveries d set state = 'pending', due_at = now(), attempts = 0, finished_at = null
      from (select f.delivery_id from assay.webhook_deliveries f
             where f.organization_id = ${organizationId} and f.webhook_id = ${webhookId} and f.state = 'failed'
               and f.finished_at >= ${since}
             order by f.finished_at, f.delivery_id limit ${room}) failed
     where d.organization_id = ${organizationId} and d.webhook_id = ${webhookId}
       and d.delivery_id = failed.delivery_id and d.state = 'failed'`;
  const [left] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.webhook_deliveries
     where organization_id = ${organizationId} and webhook_id = ${webhookId} and state = 'failed'
       and finished_at >= ${since}`;
  return { redelivered: count, remaining: left!.count };
}

/** @throws AssayError conflict when no further delivery may wait */
export async function requireRoom(tx: TransactionSql, webhook: OwnWebhook): Promise<void> {
  if ((await roomOf(tx, webhook)) > 0) return;
  throw new AssayError(
    'conflict',
    `The webhook has ${MAX_PENDING_DELIVERIES} deliveries to be made, which is the most`,
  );
}

/** Returns how many more deliveries may wait. */
async function roomOf(tx: TransactionSql, { organizationId, webhookId }: OwnWebhook): Promise<number> {
  const [row] = await tx<{ pending: number }[]>`
    select count(*)::int4 as pending from (
      select from assay.webhook_deliveries
       where organization_id = ${organizationId} and webhook_id = ${webhookId} and state in ('pending', 'sending')
       limit ${MAX_PENDING_DELIVERIES}) open`;
  return MAX_PENDING_DELIVERIES - row!.pending;
}

function deliveryJson(row: DeliveryRow): DeliveryJson {
  return {
    id: row.delivery_id,
    event: row.event,
    event_at: row.event_at.toISOString(),
    request_id: row.request_id,
    state: row.state,
    due_at: row.finished_at === null ? row.due_at.toISOString() : null,
    attempts: row.tries.map(({ at, duration_ms, status, error, answer }) => ({
      at,
      duration_ms,
      status,
      error,
      answer,
    })),
    reason: row.reason,
    finished_at: row.finished_at === null ? null : row.finished_at.toISOString(),
  };
}
