/** The rows of deliveries, as the sink writes, counts and erases them. */
import { MAX_PENDING_DELIVERIES } from '#core/contracts/webhook.ts';
import { storableJson } from '#core/json/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { deliveryIdOf } from '#platform/webhooks/mod.ts';
import type { Happening } from './events.ts';

/** A happening that a webhook asks for. */
export type NewDelivery = {
  webhookId: string;
  happening: Happening;
  /** A webhook gets one event with this key; null: it may get many. */
  onceKey: string | null;
};

/** Rows of one statement: a larger one takes long to parse, and is a large piece of memory. */
const ROWS_AT_ONCE = 2_000;

/** Inserts deliveries, due at once, except those that exist. */
export async function insertDeliveries(
  tx: TransactionSql,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  for (let first = 0; first < deliveries.length; first += ROWS_AT_ONCE) {
    await insertSome(tx, deliveries.slice(first, first + ROWS_AT_ONCE));
  }
}

async function insertSome(tx: TransactionSql, deliveries: readonly NewDelivery[]): Promise<void> {
  const ofHappening = <Value>(value: (happening: Happening) => Value) =>
    deliveries.map(({ happening }) => value(happening));
  const ids = deliveries.map(({ webhookId, happening: { at, id, event } }) =>
    deliveryIdOf(at.getTime(), webhookId, `${event} ${id}`),
  );
  await tx`
    insert into assay.webhook_deliveries
      (webhook_id, delivery_id, organization_id, event, event_at, created_at, request_id, details, once_key, due_at)
    select webhook_id, delivery_id, organization_id, event, event_at, created_at, request_id, details::jsonb, once_key, now()
      from unnest(${deliveries.map(({ webhookId }) => webhookId)}::uuid[], ${ids}::text[],
                  ${ofHappening(({ organizationId }) => organizationId)}::uuid[], ${ofHappening(({ event }) => event)}::text[],
                  ${ofHappening(({ at }) => at.toISOString())}::timestamptz[],
                  ${ofHappening(({ key }) => key?.createdAt.toISOString() ?? null)}::timestamptz[],
                  ${ofHappening(({ key }) => key?.requestId ?? null)}::text[],
                  ${ofHappening(({ details }) => (details === null ? null : storableJson(details).text))}::text[],
                  ${deliveries.map(({ onceKey }) => onceKey)}::text[])
        as new (webhook_id, delivery_id, organization_id, event, event_at, created_at, request_id, details, once_key)
    on conflict do nothing`;
}

/** Counts the deliveries of webhooks that are still to be made, up to the most that may be. */
export async function countPending(
  tx: TransactionSql,
  webhookIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx<{ webhookId: string; pending: number }[]>`
    select w.webhook_id as "webhookId", c.pending
      from unnest(${[...webhookIds]}::uuid[]) as w (webhook_id)
     cross join lateral (
       select count(*)::int4 as pending from (
         select from assay.webhook_deliveries d
          where d.webhook_id = w.webhook_id and d.state in ('pending', 'sending')
          limit ${MAX_PENDING_DELIVERIES}) open) c`;
  return new Map(rows.map(({ webhookId, pending }) => [webhookId, pending]));
}

/** Reason of deliveries that were cancelled because their request was erased. */
const ERASED = 'The request was erased';

/**
 * Removes the content of erased requests from their deliveries: the details of events, and the answers of receivers, which may
 * repeat the message. Pending deliveries are cancelled.
 */
export async function eraseContent(
  tx: TransactionSql,
  keys: readonly { organizationId: string; requestId: string }[],
): Promise<void> {
  if (keys.length === 0) return;
  await tx`
    update assay.webhook_deliveries d
       set details = null,
           tries = coalesce((select jsonb_agg(t || '{"answer": null}') from jsonb_array_elements(d.tries) t), '[]'),
           reason = case when d.state in ('pending', 'sending') then ${ERASED} else d.reason end,
           finished_at = coalesce(d.finished_at, now()),
           claims = d.claims + 1,
           state = case when d.state in ('pending', 'sending') then 'cancelled' else d.state end
      from unnest(${keys.map(({ organizationId }) => organizationId)}::uuid[],
                  ${keys.map(({ requestId }) => requestId)}::text[]) as k (organization_id, request_id)
     where d.organization_id = k.organization_id and d.request_id = k.request_id and d.event <> 'request.deleted'`;
}
