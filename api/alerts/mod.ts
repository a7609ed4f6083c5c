/** Alerts: their definitions, states and history, and tests of them on the past. */
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
import { inOrganization, lockName, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { alertJson } from './alert-json.ts';
import { changeAlert, findAlert, removeAlert } from './change.ts';
import type { Measure } from './measure.ts';
import {
  type AlertDefinition,
  countAlerts,
  definitionOf,
  insertAlert,
  selectAlerts,
  selectHistory,
  unknownWebhooks,
} from './store.ts';
import { tryOut } from './try-out.ts';

export { measure } from './measure.ts';
export { startAlerting } from './work.ts';

/** The work behind the routes of `/v1/alert`, for one organization at a time. Bodies fit their schema. */
export type AlertService = {
  create(organizationId: string, body: AlertBody): Promise<AlertJson>;
  /** Newest first. */
  list(organizationId: string): Promise<AlertJson[]>;
  get(organizationId: string, alertId: string): Promise<AlertJson>;
  /** Changes the fields in the body. Firing groups that are no longer watched are resolved. */
  change(organizationId: string, alertId: string, patch: AlertPatch): Promise<AlertJson>;
  /** Deletes an alert with its history, and resolves its firing groups. */
  remove(organizationId: string, alertId: string): Promise<null>;
  history(organizationId: string, alertId: string, query: AlertHistoryQuery): Promise<AlertHistoryPage>;
  /** Returns the events that an alert would have raised; stores nothing. */
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

/** Each alert runs one query a minute. */
const MOST_ALERTS = 100;
const MINUTE_MS = 60_000;

export function createAlertService(options: AlertServiceOptions): AlertService {
  const { sql, clock, measure, onDue } = options;

  const check = (tx: TransactionSql, organizationId: string, alert: AlertDefinition) =>
    checkAlert(options, tx, organizationId, alert);

  return {
    async create(organizationId, body) {
      const alert = definitionOf(body);
      const created = await inOrganization(sql, organizationId, async (tx) => {
        await check(tx, organizationId, alert);
        await refuseTooMany(tx, organizationId);
        const alertId = await insertAlert(tx, organizationId, alert, new Date(clock.now()));
        return await findAlert(tx, organizationId, alertId);
      });
      onDue();
      return alertJson(created);
    },

    async list(organizationId) {
      const rows = await inOrganization(sql, organizationId, (tx) => selectAlerts(tx, organizationId));
      return rows.map(alertJson);
    },

    async get(organizationId, alertId) {
      return alertJson(
        await inOrganization(sql, organizationId, (tx) => findAlert(tx, organizationId, alertId)),
      );
    },

    async change(organizationId, alertId, patch) {
      const changed = await inOrganization(sql, organizationId, (tx) =>
        changeAlert(tx, organizationId, {
          alertId,
          patch,
          at: new Date(clock.now()),
          check: (alert) => check(tx, organizationId, alert),
        }),
      );
      onDue();
      return alertJson(changed);
    },

    async remove(organizationId, alertId) {
      const atMs = clock.now();
      await inOrganization(sql, organizationId, (tx) => removeAlert(tx, organizationId, { alertId, atMs }));
      return null;
    },

    async history(organizationId, alertId, { after = null }) {
      const entries = await inOrganization(sql, organizationId, async (tx) => {
        await findAlert(tx, organizationId, alertId);
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

/** @throws AssayError invalid_body, invalid_filter */
async function checkAlert(
  { clock, measure }: Pick<AlertServiceOptions, 'clock' | 'measure'>,
  tx: TransactionSql,
  organizationId: string,
  alert: AlertDefinition,
): Promise<void> {
  checkThresholds(alert);
  // A window of one minute: only the form of the query is checked.
  const endMs = clock.now() - (clock.now() % MINUTE_MS);
  await measure(tx, organizationId, { ...alert, windowMinutes: 1 }, endMs, []);
  const [id] = await unknownWebhooks(tx, organizationId, alert.webhookIds ?? []);
  if (id !== undefined)
    throw invalidField('webhooks', `must hold ids of webhooks, but there is no webhook ${id}`);
}

/** Rejects a warning that values do not pass before the threshold: it would fire at the same time or later. */
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
  // Serialized, so that two concurrent callers cannot both create the last alert allowed.
  await lockName(tx, `alerts ${organizationId}`);
  if ((await countAlerts(tx, organizationId)) < MOST_ALERTS) return;
  throw new AssayError(
    'conflict',
    `An organization can have at most ${MOST_ALERTS} alerts: delete one first`,
  );
}
