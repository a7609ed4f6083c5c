/** Reports of an alert: history entries and events of the feed, written in the transaction that changes its state. */
import { type AlertEvent, type AlertRule, type Comparison, thresholdOf } from '#core/alerts/mod.ts';
import type { ResolveReason } from '#core/contracts/alert.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { type AlertDefinition, insertHistory, type NotedEvent } from './store.ts';

const MINUTE_MS = 60_000;

/** Returns the rule of a definition. */
export function ruleOf(alert: AlertDefinition): AlertRule {
  const { comparison, threshold, warning, noData } = alert;
  return { comparison, threshold, warning, noData, forMs: alert.forMinutes * MINUTE_MS };
}

/** Adds events to the history and to the feed, so that webhooks get them once the transaction commits. */
export async function tell(
  tx: TransactionSql,
  organizationId: string,
  alert: AlertDefinition & { alertId: string },
  events: readonly AlertEvent[],
  { atMs, reason = null }: { atMs: number; reason?: ResolveReason | null },
): Promise<void> {
  if (events.length === 0) return;
  const rule = ruleOf(alert);
  const noted = events.map((event) => ({
    ...event,
    atMs,
    reason,
    threshold: thresholdOf(rule, event.severity),
  }));
  await insertHistory(tx, organizationId, alert.alertId, noted);
  await noteChange(tx, {
    organizationId,
    kind: 'event',
    keys: [],
    details: noted.map((event) => eventOf(alert, event)),
  });
}

/** Returns an event of the feed: the data of its messages, and the webhooks that get it. */
function eventOf(
  alert: AlertDefinition & { alertId: string },
  { event, severity, group, value, atMs, threshold, reason }: NotedEvent,
): JsonObject & { type: string } {
  return {
    type: `alert.${event}`,
    alert_id: alert.alertId,
    name: alert.name,
    severity,
    group,
    value,
    comparison: alert.comparison,
    threshold,
    window_minutes: alert.windowMinutes,
    at: new Date(atMs).toISOString(),
    reason,
    message: messageOf(alert, { event, group, value, threshold, reason, severity }),
    webhook_ids: alert.webhookIds,
  };
}

const WORDS: Readonly<Record<Comparison, string>> = {
  '>': 'above',
  '>=': 'at or above',
  '<': 'below',
  '<=': 'at or below',
};

const REASONS: Readonly<Record<ResolveReason, string>> = {
  changed: 'the alert was changed',
  disabled: 'the alert was disabled',
  deleted: 'the alert was deleted',
};

/** Returns one sentence for a chat. */
function messageOf(
  { query, comparison, windowMinutes }: AlertDefinition,
  event: Pick<NotedEvent, 'event' | 'group' | 'value' | 'threshold' | 'reason' | 'severity'>,
): string {
  const { metric, aggregate } = query.measures[0]!;
  const { value, threshold, reason, severity } = event;
  const of = Object.entries(event.group).map(([name, one]) => ` for ${name} ${one ?? 'none'}`);
  const what = `${severity}: ${metric} ${aggregate} over ${windowMinutes} min${of.join('')}`;
  if (reason !== null) return `${what} is no longer watched, because ${REASONS[reason]}`;
  const measured = value === null ? 'has no data' : `is ${value}`;
  const is = event.event === 'fired' ? '' : 'no longer ';
  return value === null
    ? `${what} ${measured}`
    : `${what} ${measured}, ${is}${WORDS[comparison]} ${threshold}`;
}
