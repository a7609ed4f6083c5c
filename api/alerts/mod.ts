/** Alerts: what organizations watch, how it stands, and what it would have told. */
import { resolveAll, type Severity, type TrackedGroup } from '#core/alerts/mod.ts';
import {
  type AlertBody,
  type AlertHistoryPage,
  type AlertHistoryQuery,
  type AlertJson,
  type AlertPatch,
  type AlertTestBody,
  type AlertTestJson,
  HISTORY_PAGE,
} from '#core/contracts/alert.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { unknown } from '../evaluators/mod.ts';
import { alertJson } from './alert-json.ts';
import type { Measure } from './measure.ts';
import {
  type AlertDefinition,
  type AlertRow,
  countAlerts,
  definitionOf,
  deleteAlert,
  insertAlert,
  lockRun,
  restartRun,
  selectAlerts,
  selectHistory,
  unknownWebhooks,
  updateAlert,
} from './store.ts';
import { tell } from './tell.ts';
import { tryOut } from './try-out.ts';

export { measure } from './measure.ts';
export { startAlerting } from './work.ts';

/** The work behind the routes of `/v1/alert`, for one organization at a time. Bodies fit their schema. */
export type AlertService = {
  create(organizationId: string, body: AlertBody): Promise<AlertJson>;
  /** Newest first. */
  list(organizationId: string): Promise<AlertJson[]>;
  get(organizationId: string, alertId: string): Promise<AlertJson>;
  /** Changes what the body names. What fires is resolved where it is no longer watched. */
  change(organizationId: string, alertId: string, patch: AlertPatch): Promise<AlertJson>;
  /** Deletes an alert with its history. What fires is resolved. */
  remove(organizationId: string, alertId: string): Promise<null>;
  history(organizationId: string, alertId: string, query: AlertHistoryQuery): Promise<AlertHistoryPage>;
  /** Returns what an alert would have told; stores nothing. */
  test(organizationId: string, body: AlertTestBody): Promise<AlertTestJson>;
};

export type AlertServiceOptions = {
  /** Under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  measure: Measure;
  /** Called when an alert is due at once. */
  onDue(): void;
};

/** Each is a query a minute. */
const MOST_ALERTS = 100;
const MINUTE_MS = 60_000;

export function createAlertService(options: AlertServiceOptions): AlertService {
  const { sql, clock, measure, onDue } = options;

  /** @throws AssayError invalid_body, invalid_filter */
  async function check(tx: TransactionSql, organizationId: string, alert: AlertDefinition): Promise<void> {
    checkThresholds(alert);
    // Of one minute, so that nothing but the query's form matters.
    const endMs = clock.now() - (clock.now() % MINUTE_MS);
    await measure(tx, organizationId, { ...alert, windowMinutes: 1 }, endMs);
    const [id] = await unknownWebhooks(tx, organizationId, alert.webhookIds ?? []);
    if (id !== undefined)
      throw invalidField('webhooks', `must hold ids of webhooks, but there is no webhook ${id}`);
  }

  return {
    async create(organizationId, body) {
      const alert = definitionOf(body);
      const created = await inOrganization(sql, organizationId, async (tx) => {
        await check(tx, organizationId, alert);
        await refuseTooMany(tx, organizationId);
        const alertId = await insertAlert(tx, organizationId, alert, new Date(clock.now()));
        return await find(tx, organizationId, alertId);
      });
      onDue();
      return alertJson(created);
    },

    async list(organizationId) {
      const rows = await inOrganization(sql, organizationId, (tx) => selectAlerts(tx, organizationId));
      return rows.map(alertJson);
    },

    async get(organizationId, alertId) {
      return alertJson(await inOrganization(sql, organizationId, (tx) => find(tx, organizationId, alertId)));
    },

    async change(organizationId, alertId, patch) {
      const changed = await inOrganization(sql, organizationId, async (tx) => {
        if (!(await lockRun(tx, organizationId, alertId))) throw unknown('alert', alertId);
        const before = await find(tx, organizationId, alertId);
        const after = definitionOf({ ...bodyOf(before), ...patch });
        // Webhooks that were deleted since must not refuse another change.
        const isNamed = patch.webhooks !== undefined;
        await check(tx, organizationId, isNamed ? after : { ...after, webhookIds: null });
        const at = new Date(clock.now());
        const groups = await letGo(tx, organizationId, before, after, { patch, atMs: at.getTime() });
        await updateAlert(tx, organizationId, { ...after, alertId, at });
        await restartRun(tx, organizationId, { alertId, groups, at });
        return await find(tx, organizationId, alertId);
      });
      onDue();
      return alertJson(changed);
    },

    async remove(organizationId, alertId) {
      return inOrganization(sql, organizationId, async (tx) => {
        if (!(await lockRun(tx, organizationId, alertId))) throw unknown('alert', alertId);
        const alert = await find(tx, organizationId, alertId);
        const told = { atMs: clock.now(), reason: 'deleted' as const };
        await tell(tx, organizationId, alert, resolveAll(alert.groups), told);
        await deleteAlert(tx, organizationId, alertId);
        return null;
      });
    },

    async history(organizationId, alertId, { after = null }) {
      const entries = await inOrganization(sql, organizationId, async (tx) => {
        await find(tx, organizationId, alertId);
        return await selectHistory(tx, organizationId, { alertId, before: after, limit: HISTORY_PAGE + 1 });
      });
      const page = entries.slice(0, HISTORY_PAGE);
      return { entries: page, next: entries.length > HISTORY_PAGE ? page.at(-1)!.id : null };
    },

    async test(organizationId, body) {
      checkThresholds(definitionOf(body.alert));
      return tryOut({ sql, clock, measure }, organizationId, body);
    },
  };
}

async function find(tx: TransactionSql, organizationId: string, alertId: string): Promise<AlertRow> {
  const [row] = await selectAlerts(tx, organizationId, alertId);
  if (row === undefined) throw unknown('alert', alertId);
  return row;
}

/** Refuses a warning that is not nearer than the threshold: it would fire with it or after it. */
function checkThresholds({ comparison, threshold, warning }: AlertDefinition): void {
  if (warning === null) return;
  const isUpper = comparison.startsWith('>');
  if (isUpper ? warning < threshold : warning > threshold) return;
  const than = isUpper ? 'less' : 'more';
  throw invalidField(
    'warning',
    `must be ${than} than threshold, ${threshold}, for the comparison ${comparison}, but is ${warning}`,
  );
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  // One after the other, so that two callers cannot both create the last one.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`assay.alerts ${organizationId}`}, 0))`;
  if ((await countAlerts(tx, organizationId)) < MOST_ALERTS) return;
  throw new AssayError(
    'conflict',
    `An organization can have at most ${MOST_ALERTS} alerts: delete one first`,
  );
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
 * Resolves what a changed alert no longer watches, and returns the groups that it goes on tracking: all of them when only
 * thresholds, times or webhooks changed; none when its query is another one or it is disabled.
 */
async function letGo(
  tx: TransactionSql,
  organizationId: string,
  before: AlertRow,
  after: AlertDefinition,
  { patch, atMs }: { patch: AlertPatch; atMs: number },
): Promise<readonly TrackedGroup[]> {
  const resolve = (reason: 'changed' | 'disabled', severities?: readonly Severity[]) =>
    tell(tx, organizationId, before, resolveAll(before.groups, severities), { atMs, reason });
  if (!after.isEnabled) {
    await resolve('disabled');
    return [];
  }
  if (patch.query !== undefined) {
    await resolve('changed');
    return [];
  }
  if (after.warning !== null || before.warning === null) return before.groups;
  await resolve('changed', ['warning']);
  return before.groups.map((group) => ({ ...group, levels: { ...group.levels, warning: { kind: 'ok' } } }));
}
