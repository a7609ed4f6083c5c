/**
 * The evaluation of alerts: each minute, by one process at a time. A process leases alerts, measures without any lock or
 * transaction number, and writes in one transaction what follows: the alert's state, its history, and what is told. So a
 * process that is killed has told everything or nothing, and another evaluates the alert when the lease is over.
 */
import { countedGapMs, evaluate, type Reading } from '#core/alerts/mod.ts';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import {
  inOrganization,
  isCancelled,
  isStoreUnavailable,
  type Sql,
  type TransactionSql,
} from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { type Polling, startPolling } from '#platform/process/polling.ts';
import {
  type ClaimedAlert,
  claimAlerts,
  type Outcome,
  readNextDueMs,
  releaseAlerts,
  settleRun,
} from './claim.ts';
import type { Measure } from './measure.ts';
import { ruleOf, tell } from './tell.ts';

const MINUTE_MS = 60_000;
/** Delay from the end of a minute to its evaluation: its last requests are stored by then. */
const SETTLE_MS = 5_000;
/** Longest time between looks: an alert of another process is taken over if that process dies. */
const LONGEST_SLEEP_MS = 30_000;
/** Shortest time between looks, while alerts are due that another process has just claimed. */
const LEAST_SLEEP_MS = 100;
/** Evaluations at a time, each of another organization: a slow alert leaves room for those of others. */
const CONCURRENCY = 2;
/** The longest wait after failures in a row, each of which doubles it: a slow alert must not take the time of others. */
const LONGEST_RETRY_MINUTES = 16;
/** Time for claimed alerts at a stop. Those that are not evaluated by then are released, and others evaluate them. */
const FINISH_MS = 1_000;
/** Time for releasing. A PostgreSQL that is away or silent leaves them to the end of their leases. */
const RELEASE_MS = 500;

export type AlertingOptions = {
  /** As the owner of the tables, with a short statement timeout. */
  sql: Sql;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  measure: Measure;
  /** Called when alerts have fired or were resolved. */
  onEvents(): void;
};

/** Evaluates the alerts of all organizations until it is stopped. */
export function startAlerting(options: AlertingOptions): Polling {
  const evaluator = createEvaluator(options);
  const lanes = Array.from({ length: CONCURRENCY }, () =>
    startPolling({
      work: async () => {
        if (await evaluator.next()) return 0;
        const dueAtMs = await readNextDueMs(options.sql, evaluator.held());
        if (dueAtMs === null) return LONGEST_SLEEP_MS;
        return Math.min(Math.max(dueAtMs - options.clock.now(), LEAST_SLEEP_MS), LONGEST_SLEEP_MS);
      },
      onError: (error) => {
        if (isStoreUnavailable(error)) return;
        options.log.error({ error: describeError(error) }, 'cannot evaluate alerts');
      },
    }),
  );
  return {
    wake: () => {
      for (const lane of lanes) lane.wake();
    },
    stop: async () => {
      const finished = Promise.all(lanes.map((lane) => lane.stop())).then(evaluator.finish);
      await settlesWithin(finished, FINISH_MS).catch(() => {});
      await settlesWithin(evaluator.release(), RELEASE_MS).catch(() => {});
    },
  };
}

export type AlertEvaluator = {
  /**
   * Evaluates an alert that is due: with the requests up to the last full minute, once, however many minutes were missed.
   * Returns false when none is due, except those of organizations of which one is being evaluated.
   */
  next(): Promise<boolean>;
  /** Evaluates the alerts that are claimed here and not begun. */
  finish(): Promise<void>;
  /**
   * Gives up the leases that are held or being claimed, also of alerts that are being evaluated: nothing is told of those any more.
   * Nothing is evaluated afterwards.
   */
  release(): Promise<void>;
  /** Returns the organizations of the alerts that are claimed here. */
  held(): string[];
};

/** @internal Exported so that tests evaluate at a chosen moment. */
export function createEvaluator(options: AlertingOptions): AlertEvaluator {
  const { sql, clock, metrics } = options;
  const evaluations = metrics.counter('alert_evaluations_total', 'Evaluations of alerts, by their outcome', [
    'outcome',
  ]);
  const seconds = metrics.histogram('alert_evaluation_seconds', 'How long measuring for an alert took');
  const told = metrics.counter('alert_events_total', 'Alerts that fired or were resolved', ['event']);
  const late = metrics.gauge(
    'alert_evaluation_delay_seconds',
    'How long after the end of its window the last alert was evaluated',
  );

  async function evaluateOne(alert: ClaimedAlert): Promise<void> {
    const endMs = lastFullMinute(clock.now());
    const startedMs = clock.monotonic();
    const readings = await measureOrFail(options, alert, endMs);
    seconds.observe((clock.monotonic() - startedMs) / 1_000);
    const events = await settle(sql, alert, readings, { endMs, nowMs: clock.now() });
    if (events === null) return;
    evaluations.inc({ outcome: typeof readings === 'string' ? 'error' : 'ok' });
    for (const { event } of events) told.inc({ event });
    if (events.length > 0) options.onEvents();
    late.set((clock.now() - endMs) / 1_000);
  }

  /** The alerts that are claimed here, by their organizations: of each there is one at a time. */
  const held = new Map<string, ClaimedAlert>();
  /** Claimed, and not begun. */
  const waiting: ClaimedAlert[] = [];
  let claiming: Promise<void> | null = null;
  let isReleased = false;

  async function claimMore(): Promise<void> {
    const claimed = await claimAlerts(sql, clock.now(), [...held.keys()]);
    if (isReleased) return await release(claimed);
    for (const alert of claimed) held.set(alert.organizationId, alert);
    waiting.push(...claimed);
  }

  async function release(alerts: readonly ClaimedAlert[]): Promise<void> {
    if (alerts.length > 0) await releaseAlerts(sql, alerts);
  }

  async function evaluateWaiting(): Promise<boolean> {
    const alert = waiting.shift();
    if (alert === undefined) return false;
    try {
      await evaluateOne(alert);
      return true;
    } finally {
      held.delete(alert.organizationId);
    }
  }

  return {
    held: () => [...held.keys()],
    finish: async () => {
      while (await evaluateWaiting());
    },
    release: async () => {
      isReleased = true;
      waiting.length = 0;
      // A claim under way releases what it gets.
      await Promise.all([release([...held.values()]), claiming]);
    },
    next: async () => {
      if (waiting.length === 0) {
        claiming ??= claimMore().finally(() => {
          claiming = null;
        });
        await claiming;
      }
      return await evaluateWaiting();
    },
  };
}

/** Returns the end of the last minute whose requests are stored. */
export function lastFullMinute(nowMs: number): number {
  return Math.floor((nowMs - SETTLE_MS) / MINUTE_MS) * MINUTE_MS;
}

/** Returns the readings; a sentence when the query fails, for the owner of the alert. */
async function measureOrFail(
  { sql, log, measure }: AlertingOptions,
  alert: ClaimedAlert,
  endMs: number,
): Promise<Reading[] | string> {
  try {
    return await asOrganization(
      sql,
      alert.organizationId,
      (tx) => measure(tx, alert.organizationId, alert, endMs, alert.groups),
      {
        isSnapshot: true,
      },
    );
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    if (error instanceof AssayError) return error.message;
    if (isCancelled(error)) {
      return 'The query took too long: narrow its filter, or shorten its window';
    }
    log.error({ alertId: alert.alertId, error: describeError(error) }, 'an alert cannot be evaluated');
    return 'The query failed';
  }
}

/** Writes what follows from the readings, and returns what was told; null when the lease was lost meanwhile. */
function settle(
  sql: Sql,
  alert: ClaimedAlert,
  readings: Reading[] | string,
  { endMs, nowMs }: { endMs: number; nowMs: number },
) {
  const { organizationId, evaluatedAt } = alert;
  const found =
    typeof readings === 'string'
      ? null
      : evaluate(ruleOf(alert), alert.groups, readings, {
          nowMs: endMs,
          elapsedMs: evaluatedAt === null ? 0 : countedGapMs(evaluatedAt.getTime(), endMs),
        });
  const outcome: Outcome =
    typeof readings === 'string'
      ? { error: readings, dueAtMs: nextDueMs(nowMs, retryMinutes(alert.failures)) }
      : {
          error: null,
          dueAtMs: nextDueMs(nowMs, 1),
          endMs,
          value: readings.length === 1 ? readings[0]!.value : null,
          groups: found!.groups,
          skipped: found!.skipped,
        };
  return asOrganization(sql, organizationId, async (tx) => {
    if (!(await settleRun(tx, alert, outcome))) return null;
    const events = found?.events ?? [];
    await tell(tx, organizationId, alert, events, { atMs: endMs });
    return events;
  });
}

/** Returns when the minute that is so many minutes further has been stored. */
function nextDueMs(nowMs: number, minutes: number): number {
  return lastFullMinute(nowMs) + minutes * MINUTE_MS + SETTLE_MS;
}

function retryMinutes(failures: number): number {
  return Math.min(2 ** failures, LONGEST_RETRY_MINUTES);
}

/** Runs `work` under row-level security, on a connection of the owner. */
function asOrganization<T>(
  sql: Sql,
  organizationId: string,
  work: (tx: TransactionSql) => Promise<T>,
  options: { isSnapshot?: boolean } = {},
): Promise<T> {
  const underRole = async (tx: TransactionSql) => {
    await tx`set local role assay_api`;
    return await work(tx);
  };
  return inOrganization(sql, organizationId, underRole, options);
}
