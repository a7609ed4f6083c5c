/** Finding an alert, and changing or deleting one that may fire. */
import { isDeepStrictEqual } from 'node:util';
import { resolveAll, type Severity, type TrackedGroup } from '#core/alerts/mod.ts';
import type { AlertBody, AlertPatch, AlertQuery } from '#core/contracts/alert.ts';
import { storableJson } from '#core/json/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import {
  type AlertDefinition,
  type AlertRow,
  definitionOf,
  deleteAlert,
  lockRun,
  restartRun,
  selectAlerts,
  updateAlert,
} from './store.ts';
import { tell } from './tell.ts';

/** @throws AssayError not_found */
export async function findAlert(
  tx: TransactionSql,
  organizationId: string,
  alertId: string,
): Promise<AlertRow> {
  const [row] = await selectAlerts(tx, organizationId, alertId);
  if (row === undefined) throw unknown('alert', alertId);
  return row;
}

export type AlertChange = {
  alertId: string;
  patch: AlertPatch;
  at: Date;
  /** Throws when the changed alert breaks a rule. */
  check(alert: AlertDefinition): Promise<void>;
};

/**
 * Changes an alert, resolves the groups that it no longer watches, and makes it due. A running evaluation is discarded.
 * @throws AssayError not_found, and the errors of `check`
 */
export async function changeAlert(
  tx: TransactionSql,
  organizationId: string,
  { alertId, patch, at, check }: AlertChange,
): Promise<AlertRow> {
  if (!(await lockRun(tx, organizationId, alertId))) throw unknown('alert', alertId);
  const before = await findAlert(tx, organizationId, alertId);
  const after = definitionOf({ ...bodyOf(before), ...patch });
  // Webhooks that were deleted since must not refuse another change.
  await check(patch.webhooks === undefined ? { ...after, webhookIds: null } : after);
  const groups = await resolveUnwatched(tx, organizationId, before, after, at.getTime());
  await updateAlert(tx, organizationId, { ...after, alertId, at });
  await restartRun(tx, organizationId, { alertId, groups, at });
  return await findAlert(tx, organizationId, alertId);
}

/**
 * Deletes an alert with its history, and resolves its firing groups.
 * @throws AssayError not_found
 */
export async function removeAlert(
  tx: TransactionSql,
  organizationId: string,
  { alertId, atMs }: { alertId: string; atMs: number },
): Promise<void> {
  if (!(await lockRun(tx, organizationId, alertId))) throw unknown('alert', alertId);
  const alert = await findAlert(tx, organizationId, alertId);
  await tell(tx, organizationId, alert, resolveAll(alert.groups), { atMs, reason: 'deleted' });
  await deleteAlert(tx, organizationId, alertId);
}

function bodyOf(alert: AlertDefinition): AlertBody {
  return {
    name: alert.name,
    query: alert.query,
    window_minutes: alert.windowMinutes,
    comparison: alert.comparison,
    threshold: alert.threshold,
    warning: alert.warning,
    for_minutes: alert.forMinutes,
    no_data: alert.noData,
    webhooks: alert.webhookIds ?? 'all',
    enabled: alert.isEnabled,
  };
}

/**
 * Resolves the groups that a changed alert no longer watches, and returns those that it keeps: all of them when only
 * thresholds, times or webhooks changed; none when its query changed or it is disabled.
 */
async function resolveUnwatched(
  tx: TransactionSql,
  organizationId: string,
  before: AlertRow,
  after: AlertDefinition,
  atMs: number,
): Promise<readonly TrackedGroup[]> {
  const resolve = (reason: 'changed' | 'disabled', severities?: readonly Severity[]) =>
    tell(tx, organizationId, before, resolveAll(before.groups, severities), { atMs, reason });
  if (!after.isEnabled) {
    await resolve('disabled');
    return [];
  }
  if (!isSameQuery(before.query, after.query)) {
    await resolve('changed');
    return [];
  }
  if (after.warning !== null || before.warning === null) return before.groups;
  await resolve('changed', ['warning']);
  return before.groups.map((group) => ({ ...group, levels: { ...group.levels, warning: { kind: 'ok' } } }));
}

/** Compares a stored query with one of a body: forms send the whole alert, whatever was changed of it. */
function isSameQuery(stored: AlertQuery, given: AlertQuery): boolean {
  return isDeepStrictEqual(stored, JSON.parse(storableJson(given).text));
}
