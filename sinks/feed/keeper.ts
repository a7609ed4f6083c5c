/**
 * Maintains the feed: drops changes that every sink has passed, or that are too old to wait for the others; adopts a restored
 * feed; measures the lags of the sinks. Every process runs it; Postgres lets one at a time drop.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import { readSinkLags } from '#platform/changes/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { WakeUp } from '#platform/process/wake-up.ts';
import type { FeedMetrics } from './metrics.ts';
import type { ChangeSignal } from './sink.ts';

export type KeepFeedOptions = {
  /** Connections of the owner of the tables. */
  sql: Sql;
  log: Logger;
  feedMetrics: FeedMetrics;
  changes: ChangeSignal;
  /** Overrides the age of an unread change at which a transaction that holds the feed back is looked for, in milliseconds. */
  lateMs?: number;
};

/** Time between rounds while there are changes. */
const EVERY_MS = 5_000;
/** Time that the feed waits for a sink: a weekend, and the time to notice. A sink that is away for longer resumes by a scan. */
const KEPT_FOR = '7 days';
/** Rows of one statement: few enough that it takes milliseconds. */
const DROPPED_AT_ONCE = 5_000;
/** Longer than any transaction of Assay's own should be open, by far. */
const LATE_MS = 30_000;

/** Maintains the feed until it is stopped. */
export function startFeedKeeper(options: KeepFeedOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const wakeUp = new WakeUp();
  options.changes.follow(() => wakeUp.wake());
  const running = keep(options, wakeUp, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      wakeUp.wake();
      await running;
    },
  };
}

async function keep(options: KeepFeedOptions, wakeUp: WakeUp, signal: AbortSignal): Promise<void> {
  let isFailing = false;
  let heldBy: number | null = null;
  while (!signal.aborted) {
    let isIdle = false;
    try {
      const { holder, isEmpty } = await keepFeedOnce(options, signal);
      isIdle = isEmpty;
      // Once for each, however long it is open.
      if (holder !== null && holder.pid !== heldBy) {
        options.log.warn(holder, 'an open transaction keeps the sinks from later changes');
      }
      heldBy = holder?.pid ?? null;
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing)
        options.log.warn({ error: describeError(error) }, 'cannot keep the feed; will try again');
      isFailing = true;
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    if (isIdle && !signal.aborted) await wakeUp.sleep(options.changes.longestSleepMs() - EVERY_MS);
  }
}

/** A transaction that the sinks wait for, as far as this role may see it. */
type Holder = { pid: number; applicationName: string; database: string | null; seconds: number };

/** A round: whether no sink has anything to apply, and the open transaction that holds late sinks back, if one does. */
type Round = { isEmpty: boolean; holder: Holder | null };

/**
 * Runs one round.
 * @internal Exported so that tests run one round at a chosen time.
 */
export async function keepFeedOnce(
  options: Omit<KeepFeedOptions, 'changes'>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Round> {
  const { sql, log, feedMetrics, lateMs = LATE_MS } = options;
  for (let dropped = DROPPED_AT_ONCE; dropped >= DROPPED_AT_ONCE && !signal.aborted; ) {
    dropped = await dropChanges(sql, log);
    feedMetrics.dropped.inc(dropped);
  }
  const lags = await readSinkLags(sql);
  for (const { name, lagMs, changes } of lags) {
    feedMetrics.lagSeconds.set({ sink: name }, lagMs / 1_000);
    feedMetrics.lagChanges.set({ sink: name }, changes);
  }
  const isLate = lags.some(({ lagMs }) => lagMs > lateMs);
  return {
    isEmpty: lags.every(({ changes }) => changes === 0),
    holder: isLate ? await findHolder(sql, lateMs) : null,
  };
}

async function dropChanges(sql: Sql, log: Logger): Promise<number> {
  const [row] = await sql<{ dropped: number; leftBehind: string[]; isAdopted: boolean }[]>`
    select dropped, left_behind as "leftBehind", is_adopted as "isAdopted"
      from assay.drop_changes(${KEPT_FOR}::interval, ${DROPPED_AT_ONCE}::int4)`;
  const { dropped, leftBehind, isAdopted } = row!;
  if (isAdopted) {
    log.warn('the database was restored from another cluster: the sinks read the feed from its beginning');
  }
  for (const sink of leftBehind) {
    log.warn({ sink, keptFor: KEPT_FOR }, 'the feed dropped changes that a sink had not applied');
  }
  return dropped;
}

/**
 * Finds the transaction with a number that has been open longest. A transaction without one has written nothing, and holds
 * nothing back.
 */
async function findHolder(sql: Sql, lateMs: number): Promise<Holder | null> {
  const [holder] = await sql<Holder[]>`
    select pid, application_name as "applicationName", datname as database,
           extract(epoch from clock_timestamp() - xact_start)::int4 as seconds
      from pg_stat_activity
     where backend_xid is not null and xact_start < clock_timestamp() - ${lateMs} * interval '1 ms'
       and pid <> pg_backend_pid()
     order by xact_start limit 1`;
  return holder ?? null;
}
