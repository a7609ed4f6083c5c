/** Claims of due alerts, and outcomes of their evaluations. Runs as the owner of the tables, for all organizations. */
import type { TrackedGroup } from '#core/alerts/mod.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { AlertDefinition } from './store.ts';

/** An alert that this process has claimed, until its lease expires. */
export type ClaimedAlert = AlertDefinition & {
  alertId: string;
  organizationId: string;
  lease: string;
  evaluatedAt: Date | null;
  groups: TrackedGroup[];
  failures: number;
};

/** Longer than the evaluations of one claim take. A killed process delays its alerts by this long. */
const LEASE_MS = 60_000;
/** Maximum alerts per claim, each of a different organization. */
const CLAIMED_AT_ONCE = 8;
/**
 * No alert is due, and none leased, further ahead than this: the longest wait after failures is shorter. What is was written by
 * a clock that has been set back since, and would wait until the clock is there again. Clocks of processes may differ by some
 * seconds, so it is no tighter.
 */
const FURTHEST_MS = 17 * 60_000;

/**
 * Claims alerts that are due: at most one of each organization, and first those of organizations that have waited longest,
 * so that none waits for another's many or slow alerts.
 * @param held organizations of which none is claimed
 */
export async function claimAlerts(sql: Sql, nowMs: number, held: readonly string[]): Promise<ClaimedAlert[]> {
  const [now, until] = [new Date(nowMs), new Date(nowMs + LEASE_MS)];
  const hasCome = (time: 'due_at' | 'leased_until') =>
    sql`(r.${sql(time)} <= ${now} or r.${sql(time)} > ${new Date(nowMs + FURTHEST_MS)})`;
  const isDue = sql`${hasCome('due_at')} and (r.leased_until is null or ${hasCome('leased_until')})`;
  const claimed = await sql<ClaimedAlert[]>`
    with due as (
      select distinct on (r.organization_id) r.alert_id, r.organization_id
        from assay.alert_runs r join assay.alerts a using (alert_id)
       where ${isDue} and a.enabled and r.organization_id <> all(${[...held]}::uuid[])
       order by r.organization_id, r.due_at, r.alert_id
    ), chosen as (
      select alert_id from due
       order by (select max(claimed_at) from assay.alert_runs o where o.organization_id = due.organization_id)
                nulls first, organization_id
       limit ${CLAIMED_AT_ONCE}
    )
    update assay.alert_runs r
       set lease = gen_random_uuid(), leased_until = ${until}, claimed_at = ${now}
      from assay.alerts a
     where r.alert_id in (select alert_id from chosen) and a.alert_id = r.alert_id
       and ${isDue}
    returning r.alert_id as "alertId", r.organization_id as "organizationId", r.lease, r.evaluated_at as "evaluatedAt",
              r.groups, r.failures, a.name, a.query, a.window_minutes as "windowMinutes", a.comparison, a.threshold,
              a.warning, a.for_minutes as "forMinutes", a.no_data as "noData", a.webhook_ids::text[] as "webhookIds",
              a.enabled as "isEnabled"`;
  return [...claimed];
}

/** Gives up leases that are still held, so that another process can claim the alerts at once. */
export async function releaseAlerts(
  sql: Sql,
  alerts: readonly Pick<ClaimedAlert, 'alertId' | 'lease'>[],
): Promise<void> {
  await sql`
    update assay.alert_runs r set lease = null, leased_until = null
      from unnest(${alerts.map(({ alertId }) => alertId)}::uuid[], ${alerts.map(({ lease }) => lease)}::uuid[])
           as held (alert_id, lease)
     where r.alert_id = held.alert_id and r.lease = held.lease`;
}

/**
 * Returns when the next alert may be claimed, in milliseconds since the epoch; null: there is none.
 * @param held organizations whose alerts are left out
 */
export async function readNextDueMs(sql: Sql, held: readonly string[]): Promise<number | null> {
  const [row] = await sql<{ dueAt: Date | null }[]>`
    select min(greatest(r.due_at, r.leased_until)) as "dueAt"
      from assay.alert_runs r join assay.alerts a using (alert_id)
     where a.enabled and r.organization_id <> all(${[...held]}::uuid[])`;
  return row?.dueAt?.getTime() ?? null;
}

/** Outcome of an evaluation. */
export type Outcome = { dueAtMs: number } & (
  | { error: null; endMs: number; value: number | null; groups: readonly TrackedGroup[]; skipped: number }
  | { error: string }
);

/**
 * Writes the outcome of an evaluation and releases the lease. Returns false and writes nothing when this process no longer
 * holds the lease: the alert was changed or deleted, or the lease has expired.
 */
export async function settleRun(
  tx: TransactionSql,
  { alertId, organizationId, lease, failures }: ClaimedAlert,
  outcome: Outcome,
): Promise<boolean> {
  const dueAt = new Date(outcome.dueAtMs);
  const rows =
    outcome.error === null
      ? await tx`
          update assay.alert_runs
             set lease = null, leased_until = null, due_at = ${dueAt}, evaluated_at = ${new Date(outcome.endMs)},
                 value = ${outcome.value}, groups = ${storableJson(outcome.groups).text}::text::jsonb,
                 skipped_groups = ${outcome.skipped}, failures = 0, error = null
           where organization_id = ${organizationId} and alert_id = ${alertId} and lease = ${lease}
          returning 1`
      : await tx`
          update assay.alert_runs
             set lease = null, leased_until = null, due_at = ${dueAt}, failures = ${failures + 1},
                 error = ${storableText(outcome.error)}
           where organization_id = ${organizationId} and alert_id = ${alertId} and lease = ${lease}
          returning 1`;
  return rows.length === 1;
}
