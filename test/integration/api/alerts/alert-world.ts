/** Alerts over a real database, with a clock that a test moves and values that it says; evaluators are as many as it wants. */
import type { Reading } from '#core/alerts/mod.ts';
import type { AlertBody } from '#core/contracts/alert.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Measure } from '../../../../api/alerts/measure.ts';
import { createAlertService } from '../../../../api/alerts/mod.ts';
import { createEvaluator } from '../../../../api/alerts/work.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { createWorld, type Owner, silentLog } from '../../../support/world.ts';

export const MINUTE_MS = 60_000;
/** Ten seconds after a minute: the minute can be evaluated. */
const BEGIN_MS = Date.UTC(2026, 10, 2, 10, 0, 10);

export const BODY: AlertBody = {
  name: 'Errors',
  query: { measures: [{ metric: 'errors', aggregate: 'avg' }] },
  window_minutes: 5,
  comparison: '>',
  threshold: 0.05,
};

type Measured = readonly Reading[] | number | null;
/** Gives the readings of an alert; may wait, fail, or use the transaction. */
type Say = (name: string, tx: TransactionSql, endMs: number) => Promise<Measured> | Measured;

export async function alertWorld(owner: Owner) {
  const world = await createWorld(owner);
  const { sql, database } = world;
  const { organizationId: own } = await world.organization();
  const { organizationId: other } = await world.organization();
  const apiSql = connectAsApi(database.url, { max: 4 });
  owner.teardown(() => apiSql.end());
  let nowMs = BEGIN_MS;
  let say: Say = () => null;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const measure: Measure = async (tx, _organizationId, { name }, endMs) => {
    const measured = await say(name, tx, endMs);
    return typeof measured === 'number' || measured === null
      ? [{ group: {}, value: measured }]
      : [...measured];
  };
  // Checking a body measures, too, and is no evaluation.
  const service = createAlertService({ sql: apiSql, clock, measure: async () => [], onDue: () => {} });
  const tester = createAlertService({ sql: apiSql, clock, measure, onDue: () => {} });

  /** An API process, as far as alerts go. `statementTimeoutMs` bounds what measuring may take. */
  function evaluator(options: { statementTimeoutMs?: number; url?: string } = {}) {
    const pool = world.connect({ max: 2, statementTimeoutMs: 5_000, ...options });
    const metrics = createMetrics('api');
    const evaluator = createEvaluator({
      sql: pool,
      log: silentLog,
      clock,
      metrics,
      measure,
      onEvents: () => {},
    });
    /** Evaluates everything that is due, one after the other. Returns how many alerts it were. */
    const evaluate = async () => {
      let count = 0;
      while (await evaluator.next()) count += 1;
      return count;
    };
    return { pool, metrics, evaluate, next: evaluator.next };
  }

  return {
    ...world,
    own,
    other,
    service,
    test: tester.test,
    evaluator,
    now: () => nowMs,
    advance: (ms = MINUTE_MS) => {
      nowMs += ms;
    },
    says: (next: Say | Measured) => {
      say = typeof next === 'function' ? next : () => next;
    },
    create: (body: Partial<AlertBody> = {}, organizationId = own) =>
      service.create(organizationId, { ...BODY, ...body }),
    /** What the feed was told, in order, as `type severity`. */
    async told(organizationId = own): Promise<string[]> {
      const rows = await sql<{ said: string }[]>`
        select concat_ws(' ', detail ->> 'type', detail ->> 'severity', detail ->> 'reason') as said
          from assay.changes, jsonb_array_elements(details) detail
         where organization_id = ${organizationId} and kind = 'event' order by seq`;
      return rows.map(({ said }) => said);
    },
    async history(alertId: string): Promise<string[]> {
      const { entries } = await service.history(own, alertId, {});
      return entries.map(({ event, severity }) => `${event} ${severity}`).reverse();
    },
  };
}
