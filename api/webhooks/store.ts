/** Statements on the table of webhooks, for one organization at a time: `tx` runs under the role `assay_api`. */
import {
  type Format,
  MAX_PENDING_DELIVERIES,
  type Payload,
  type WebhookEvent,
  type WebhookPause,
} from '#core/contracts/webhook.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';

export type WebhookRow = {
  webhook_id: string;
  url: string;
  events: WebhookEvent[];
  filter: unknown;
  payload: Payload;
  format: Format;
  sealed: Buffer;
  previous_until: Date | null;
  paused_reason: WebhookPause | null;
  paused_message: string | null;
  paused_at: Date | null;
  missed_from: Date | null;
  missed_until: Date | null;
  missed_reason: 'paused' | 'feed' | null;
  last_success_at: Date | null;
  created_at: Date;
  updated_at: Date;
  /** Deliveries that are still to be made. */
  pending: number;
};

/** Settings of a webhook that callers choose. `filter` is JSON text that Postgres can hold. */
export type WebhookSettings = {
  url: string;
  events: readonly WebhookEvent[];
  filter: string | null;
  payload: Payload;
  format: Format;
};

/** Serializes changes of an organization's webhooks until the transaction ends. */
export async function lockWebhooks(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `webhooks ${organizationId}`);
}

/** Lists webhooks, newest first; only the one of this id when it is given. */
export function selectWebhooks(
  tx: TransactionSql,
  organizationId: string,
  webhookId: string | null = null,
): Promise<WebhookRow[]> {
  return tx<WebhookRow[]>`
    select w.*, c.pending from assay.webhooks w
     cross join lateral (
       select count(*)::int4 as pending from (
         select from assay.webhook_deliveries d
          where d.webhook_id = w.webhook_id and d.organization_id = ${organizationId}
            and d.state in ('pending', 'sending') limit ${MAX_PENDING_DELIVERIES}) open) c
     where w.organization_id = ${organizationId} and w.deleted_at is null
       and (${webhookId}::uuid is null or w.webhook_id = ${webhookId})
     order by w.created_at desc, w.webhook_id`;
}

export async function insertWebhook(
  tx: TransactionSql,
  {
    organizationId,
    webhookId,
    sealed,
    at,
    ...settings
  }: WebhookSettings & { organizationId: string; webhookId: string; sealed: Buffer; at: Date },
): Promise<void> {
  await tx`
    insert into assay.webhooks
      (webhook_id, organization_id, url, events, filter, payload, format, sealed, created_at, updated_at)
    values
      (${webhookId}, ${organizationId}, ${settings.url}, ${[...settings.events]}::text[],
       ${settings.filter}::text::jsonb, ${settings.payload}, ${settings.format}, ${sealed}, ${at}, ${at})`;
}

/** Changes a webhook. A rest that the receiver at another address asked for is over. */
export async function updateWebhook(
  tx: TransactionSql,
  organizationId: string,
  webhookId: string,
  { settings, at }: { settings: WebhookSettings; at: Date },
): Promise<void> {
  await tx`
    update assay.webhooks
       set url = ${settings.url}, events = ${[...settings.events]}::text[], filter = ${settings.filter}::text::jsonb,
           payload = ${settings.payload}, format = ${settings.format}, updated_at = ${at},
           not_before = case when url = ${settings.url} then not_before end
     where organization_id = ${organizationId} and webhook_id = ${webhookId}`;
}

/** Pauses a webhook at its owner's request; one that is paused stays as it is. */
export async function pauseWebhook(
  tx: TransactionSql,
  organizationId: string,
  webhookId: string,
): Promise<void> {
  await tx`
    update assay.webhooks
       set paused_reason = 'caller', paused_message = null, paused_at = now(),
           missed_from = now(), missed_until = null, missed_reason = 'paused'
     where organization_id = ${organizationId} and webhook_id = ${webhookId} and paused_reason is null`;
}

/** Resumes a webhook: its pending deliveries go on, and events from now on are delivered. */
export async function resumeWebhook(
  tx: TransactionSql,
  organizationId: string,
  webhookId: string,
): Promise<void> {
  await tx`
    update assay.webhooks
       set paused_reason = null, paused_message = null, paused_at = null, not_before = null, missed_until = now()
     where organization_id = ${organizationId} and webhook_id = ${webhookId} and paused_reason is not null`;
}

export async function updateSecrets(
  tx: TransactionSql,
  organizationId: string,
  webhookId: string,
  { sealed, previousUntil, at }: { sealed: Buffer; previousUntil: Date | null; at: Date },
): Promise<void> {
  await tx`
    update assay.webhooks set sealed = ${sealed}, previous_until = ${previousUntil}, updated_at = ${at}
     where organization_id = ${organizationId} and webhook_id = ${webhookId}`;
}

/** Marks a webhook as deleted, and forgets its address and its secrets. Its deliveries are deleted by the sink. */
export async function markDeleted(
  tx: TransactionSql,
  organizationId: string,
  webhookId: string,
  at: Date,
): Promise<void> {
  await tx`
    update assay.webhooks set deleted_at = ${at}, updated_at = ${at}, url = '', sealed = ''::bytea
     where organization_id = ${organizationId} and webhook_id = ${webhookId}`;
}
