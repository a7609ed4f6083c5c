import type { WebhookJson } from '#core/contracts/webhook.ts';
import type { WebhookRow } from './store.ts';

const timeOrNull = (at: Date | null) => (at === null ? null : at.toISOString());

/** Returns a webhook as the API shows it. */
export function toWebhookJson(row: WebhookRow, nowMs: number): WebhookJson {
  const { missed_from: from, missed_until: until, missed_reason: reason, previous_until: rotating } = row;
  return {
    id: row.webhook_id,
    url: row.url,
    events: row.events,
    filter: row.filter,
    payload: row.payload,
    format: row.format,
    state: row.paused_reason === null ? 'active' : 'paused',
    paused_reason: row.paused_reason,
    paused_message: row.paused_message,
    paused_at: timeOrNull(row.paused_at),
    missed:
      from === null || reason === null
        ? null
        : { from: from.toISOString(), until: timeOrNull(until), reason },
    pending: row.pending,
    rotating_until: rotating !== null && rotating.getTime() > nowMs ? rotating.toISOString() : null,
    last_success_at: timeOrNull(row.last_success_at),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
