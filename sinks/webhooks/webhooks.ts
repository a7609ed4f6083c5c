/** The webhooks of organizations, as the sink reads and pauses them. */
import type { WebhookEvent, WebhookPause } from '#core/contracts/webhook.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

/** A webhook that events may be delivered to. */
export type SinkWebhook = {
  webhookId: string;
  organizationId: string;
  events: WebhookEvent[];
  /** A filter as in queries; null: every request. */
  filter: unknown;
  isPaused: boolean;
  missedFrom: Date | null;
};

/** Lists the webhooks of these organizations, the oldest first. */
export function selectWebhooks(
  tx: TransactionSql,
  organizationIds: readonly string[],
): Promise<SinkWebhook[]> {
  return tx<SinkWebhook[]>`
    select webhook_id as "webhookId", organization_id as "organizationId", events, filter,
           paused_reason is not null as "isPaused", missed_from as "missedFrom"
      from assay.webhooks
     where organization_id = any(${[...organizationIds]}::uuid[]) and deleted_at is null
     order by created_at, webhook_id`;
}

/** A webhook to pause, with the message for its owner. */
export type Pause = {
  webhookId: string;
  reason: WebhookPause;
  message: string;
  /** The first event that is not delivered; null: none was yet. */
  missedFrom: Date | null;
};

/** Pauses active webhooks. Later events are not delivered, and the webhook says so. */
export async function pauseWebhooks(sql: Sql | TransactionSql, pauses: readonly Pause[]): Promise<void> {
  for (const { webhookId, reason, message, missedFrom } of pauses) {
    await sql`
      update assay.webhooks
         set paused_reason = ${reason}, paused_message = ${message}, paused_at = now(), updated_at = now(),
             missed_from = least(${missedFrom}::timestamptz, now()), missed_until = null, missed_reason = 'paused'
       where webhook_id = ${webhookId} and paused_reason is null and deleted_at is null`;
  }
}

/** Notes that paused webhooks get no events from this time on: an event may be older than the pause. */
export async function noteMissed(
  tx: TransactionSql,
  missed: readonly { webhookId: string; at: Date }[],
): Promise<void> {
  if (missed.length === 0) return;
  await tx`
    update assay.webhooks w set missed_from = least(w.missed_from, m.at)
      from unnest(${missed.map(({ webhookId }) => webhookId)}::uuid[],
                  ${missed.map(({ at }) => at.toISOString())}::timestamptz[]) as m (webhook_id, at)
     where w.webhook_id = m.webhook_id and w.paused_reason is not null`;
}

/**
 * Notes that no webhook gets the events since a given time, because the feed does not reach back to it.
 * @param sinceMs null: since the beginning
 * @returns the number of these webhooks
 */
export async function noteLostFeed(tx: TransactionSql, sinceMs: number | null): Promise<number> {
  const since = sinceMs === null ? null : new Date(sinceMs);
  const { count } = await tx`
    update assay.webhooks
       set missed_from = least(case when paused_reason is not null then missed_from end,
                               greatest(${since}::timestamptz, created_at)),
           missed_until = case when paused_reason is null then now() end,
           missed_reason = case when paused_reason is null then 'feed' else 'paused' end
     where deleted_at is null`;
  return count;
}
