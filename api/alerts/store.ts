/** Statements on the tables of alerts, for one organization at a time: `tx` runs under the role `assay_api`. */

import type { AlertEvent, Comparison, NoData, TrackedGroup } from '#core/alerts/mod.ts';
import type { AlertBody, AlertHistoryEntry, AlertQuery, ResolveReason } from '#core/contracts/alert.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { storableJson } from '#core/json/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** Definition of an alert. Durations are whole minutes. */
export type AlertDefinition = {
  name: string;
  query: AlertQuery;
  windowMinutes: number;
  comparison: Comparison;
  threshold: number;
  warning: number | null;
  forMinutes: number;
  noData: NoData;
  /** Null: all webhooks that ask for alert events. */
  webhookIds: string[] | null;
  isEnabled: boolean;
};

/** State of an alert. */
export type AlertStanding = {
  evaluatedAt: Date | null;
  value: number | null;
  groups: TrackedGroup[];
  skippedGroups: number;
  error: string | null;
};

export type AlertRow = AlertDefinition &
  AlertStanding & { alertId: string; createdAt: Date; updatedAt: Date; goneWebhooks: string[] };

/** Returns the definition in a body, with defaults for absent fields. */
export function definitionOf(body: AlertBody): AlertDefinition {
  const { webhooks = 'all' } = body;
  return {
    name: storableText(body.name),
    query: body.query,
    windowMinutes: body.window_minutes,
    comparison: body.comparison,
    threshold: body.threshold,
    warning: body.warning ?? null,
    forMinutes: body.for_minutes ?? 0,
    noData: body.no_data ?? 'ok',
    webhookIds: webhooks === 'all' ? null : webhooks.map((id) => id.toLowerCase()),
    isEnabled: body.enabled ?? true,
  };
}

/** Lists alerts, newest first; only `alertId` when it is given. */
export function selectAlerts(
  tx: TransactionSql,
  organizationId: string,
  alertId: string | null = null,
): Promise<AlertRow[]> {
  return tx<AlertRow[]>`
    select a.alert_id as "alertId", a.name, a.query, a.window_minutes as "windowMinutes", a.comparison, a.threshold,
           a.warning, a.for_minutes as "forMinutes", a.no_data as "noData", a.webhook_ids::text[] as "webhookIds",
           a.enabled as "isEnabled", a.created_at as "createdAt", a.updated_at as "updatedAt",
           r.evaluated_at as "evaluatedAt", r.value, r.groups, r.skipped_groups as "skippedGroups", r.error,
           array(select id::text from unnest(a.webhook_ids) id
                  where not exists (select from assay.webhooks w
                                     where w.organization_id = ${organizationId} and w.webhook_id = id
                                       and w.deleted_at is null)) as "goneWebhooks"
      from assay.alerts a join assay.alert_runs r using (alert_id)
     where a.organization_id = ${organizationId} and (${alertId}::uuid is null or a.alert_id = ${alertId})
     order by a.created_at desc, a.alert_id desc`;
}

export async function countAlerts(tx: TransactionSql, organizationId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.alerts where organization_id = ${organizationId}`;
  return row!.count;
}

/** Returns those of `ids` that belong to no webhook of the organization. */
export async function unknownWebhooks(
  tx: TransactionSql,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from unnest(${ids}::text[]) id
     where not exists (select from assay.webhooks w
                        where w.organization_id = ${organizationId} and w.webhook_id = id::uuid and w.deleted_at is null)`;
  return rows.map(({ id }) => id);
}

/** Stores a new alert, which is due at once. */
export async function insertAlert(
  tx: TransactionSql,
  organizationId: string,
  alert: AlertDefinition,
  at: Date,
): Promise<string> {
  const [row] = await tx<{ alertId: string }[]>`
    insert into assay.alerts (organization_id, name, query, window_minutes, comparison, threshold, warning, for_minutes,
                              no_data, webhook_ids, enabled, created_at, updated_at)
    values (${organizationId}, ${alert.name}, ${jsonOf(alert.query)}::text::jsonb, ${alert.windowMinutes},
            ${alert.comparison}, ${alert.threshold}, ${alert.warning}, ${alert.forMinutes}, ${alert.noData},
            ${alert.webhookIds}::text[]::uuid[], ${alert.isEnabled}, ${at}, ${at})
    returning alert_id as "alertId"`;
  const { alertId } = row!;
  await tx`
    insert into assay.alert_runs (alert_id, organization_id, due_at) values (${alertId}, ${organizationId}, ${at})`;
  return alertId;
}

export async function updateAlert(
  tx: TransactionSql,
  organizationId: string,
  { alertId, at, ...alert }: AlertDefinition & { alertId: string; at: Date },
): Promise<void> {
  await tx`
    update assay.alerts
       set name = ${alert.name}, query = ${jsonOf(alert.query)}::text::jsonb, window_minutes = ${alert.windowMinutes},
           comparison = ${alert.comparison}, threshold = ${alert.threshold}, warning = ${alert.warning},
           for_minutes = ${alert.forMinutes}, no_data = ${alert.noData},
           webhook_ids = ${alert.webhookIds}::text[]::uuid[], enabled = ${alert.isEnabled}, updated_at = ${at}
     where organization_id = ${organizationId} and alert_id = ${alertId}`;
}

/**
 * Locks the state of an alert until the transaction ends. A running evaluation waits for the lock, and has lost its lease if
 * `restartRun` was called meanwhile. Returns false when there is no such alert.
 */
export async function lockRun(tx: TransactionSql, organizationId: string, alertId: string): Promise<boolean> {
  const rows = await tx`
    select from assay.alert_runs where organization_id = ${organizationId} and alert_id = ${alertId} for update`;
  return rows.length === 1;
}

/** Revokes the lease of a running evaluation, and makes the alert due with these groups. */
export async function restartRun(
  tx: TransactionSql,
  organizationId: string,
  { alertId, groups, at }: { alertId: string; groups: readonly TrackedGroup[]; at: Date },
): Promise<void> {
  await tx`
    update assay.alert_runs
       set lease = null, leased_until = null, due_at = ${at}, groups = ${jsonOf(groups)}::text::jsonb, failures = 0,
           error = null
     where organization_id = ${organizationId} and alert_id = ${alertId}`;
}

export async function deleteAlert(
  tx: TransactionSql,
  organizationId: string,
  alertId: string,
): Promise<void> {
  await tx`delete from assay.alerts where organization_id = ${organizationId} and alert_id = ${alertId}`;
}

/** An event as the history and webhooks have it. `atMs`: the end of the window, or the time at which the alert was changed. */
export type NotedEvent = AlertEvent & {
  atMs: number;
  threshold: number | null;
  reason: ResolveReason | null;
};

/** Maximum history entries of an alert. */
const MOST_KEPT = 1_000;

/** Adds events to an alert's history, and drops its oldest entries. */
export async function insertHistory(
  tx: TransactionSql,
  organizationId: string,
  alertId: string,
  events: readonly NotedEvent[],
): Promise<void> {
  for (const { atMs, event, severity, group, value, threshold, reason } of events) {
    await tx`
      insert into assay.alert_history (organization_id, alert_id, at, event, severity, grouping, value, threshold, reason)
      values (${organizationId}, ${alertId}, ${new Date(atMs)}, ${event}, ${severity}, ${jsonOf(group)}::text::jsonb,
              ${value}, ${threshold}, ${reason})`;
  }
  await tx`
    delete from assay.alert_history
     where organization_id = ${organizationId} and alert_id = ${alertId} and history_id <= (
       select history_id from assay.alert_history where alert_id = ${alertId}
        order by history_id desc offset ${MOST_KEPT} limit 1)`;
}

type HistoryRow = Omit<AlertHistoryEntry, 'at'> & { at: Date };

/** Lists the newest entries before `before`, newest first. */
export async function selectHistory(
  tx: TransactionSql,
  organizationId: string,
  { alertId, before, limit }: { alertId: string; before: string | null; limit: number },
): Promise<AlertHistoryEntry[]> {
  const rows = await tx<HistoryRow[]>`
    select history_id as id, at, event, severity, grouping as "group", value, threshold, reason
      from assay.alert_history
     where organization_id = ${organizationId} and alert_id = ${alertId}
       and (${before}::bigint is null or history_id < ${before})
     order by history_id desc limit ${limit}`;
  return rows.map(({ at, ...entry }) => ({ ...entry, at: at.toISOString() }));
}

function jsonOf(value: unknown): string {
  return storableJson(value).text;
}
