/**
 * Creates partitions ahead and drops expired ones. Every ingest process does both at its start and once an hour, retention
 * under a lock, so that one process does it at a time.
 *
 * A week is dropped in steps, none of which blocks a query or an insert: its partitions are marked, detached one by one
 * (`concurrently`: running queries finish reading them, later ones do not see them), and dropped together. A process that
 * dies in between leaves a mark and perhaps a pending detach; the next one continues from there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { ensurePartitions } from './partitions.ts';
import { dropSessions } from './sessions.ts';
import { StepErrors } from './step-errors.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** Enough for the next week to exist even after a weekend without ingest; an empty partition costs nothing. */
const WEEKS_AHEAD = 2;

/**
 * Maximum difference between the clocks of ingest processes: a week is dropped this much later than `isExpired` refuses
 * its last entry, so that no process stores into a week that another one drops.
 */
const CLOCK_MARGIN_MS = HOUR_MS;

/** No partition is made for an earlier time, which only a wrong clock gives. */
const EARLIEST_MS = Date.UTC(2020, 0, 1);

/**
 * Returns whether an entry is too old to be stored: its partition is dropped or about to be, and must not be created again. One
 * that a wrong clock dated before all partitions is not: it becomes a dead letter, as without a retention.
 */
export function isExpired(createdAtMs: number, nowMs: number, retentionDays: number | null): boolean {
  return retentionDays !== null && createdAtMs >= EARLIEST_MS && createdAtMs < nowMs - retentionDays * DAY_MS;
}

/** Options of keeping partitions. */
export type KeepOptions = {
  /** The database's URL, with the owner of the tables as its user. */
  url: string;
  clock: Clock;
  log: Logger;
  /** Null: nothing is ever dropped. */
  retentionDays: number | null;
};

const EVERY_MS = HOUR_MS;
/** Share of the interval by which it varies, so that processes that started together do not stay in step. */
const JITTER = 0.1;
/** Delay after a failure, usually a query so long that a detach gave up waiting for it. */
const RETRY_MS = 60_000;

/** Starts keeping partitions. `stop` interrupts a round; the next keeper continues it. */
export function startPartitionKeeper(options: KeepOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = keep(options, signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function keep(options: KeepOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let waitMs = EVERY_MS * (1 + JITTER * Math.random());
    try {
      const dropped = await keepPartitionsOnce(options, signal);
      if (dropped !== null && dropped.weeks.length + dropped.deadLetters + dropped.evaluations > 0) {
        options.log.info(dropped, 'dropped records older than the retention');
      }
    } catch (error) {
      if (signal.aborted) return;
      waitMs = RETRY_MS;
      options.log.warn(
        { error: describeError(error), retryMs: RETRY_MS },
        'cannot keep the partitions; will try again',
      );
    }
    await sleep(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** The records that one round of retention removed. */
export type Dropped = {
  /** The Mondays of the weeks, as YYYYMMDD. */
  weeks: string[];
  claimedRequestIds: number;
  deadLetters: number;
  evaluations: number;
};

/** Tables whose rows are deleted once they are older than the retention, each with the column of their time. */
const TIMED_TABLES = [
  ['judge_calls', 'counted_at'],
  // People's grades of dropped requests, and their places in review queues; skips go with the items.
  ['grades', 'created_at'],
  ['grade_history', 'created_at'],
  ['review_items', 'created_at'],
  // An entry of an erased request that comes later still is expired itself.
  ['erased_requests', 'erased_at'],
  ['erased_evaluations', 'erased_at'],
  ['erasure_jobs', 'finished_at'],
  ['claimed_request_ids', 'claimed_at'],
  ['dead_letters', 'created_at'],
  // Those of dropped requests; their scores were dropped with the partitions.
  ['evaluations', 'created_at'],
] as const;

/** Maximum wait for one lock: longer than any query of the API may take, as a detach may have to wait for it. */
const LOCK_TIMEOUT_MS = 15_000;
const STATEMENT_TIMEOUT_MS = 60_000;

/**
 * Runs one round: creates partitions for this week and the next ones; then, with a retention, drops older records. Null
 * when another process is doing so.
 * @throws errors of Postgres, those of a step after the steps that follow; a round that failed can be run again, and continues
 * where it stopped
 * @internal Exported so that tests run one round at a chosen time.
 */
export async function keepPartitionsOnce(
  options: KeepOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Dropped | null> {
  const { url, clock, retentionDays } = options;
  // A connection of its own for the round: waiting for locks must not occupy one of ingest's few.
  const sql = connectPostgres({
    url,
    max: 1,
    applicationName: 'assay-partitions',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const cut = () => void sql.end({ timeout: 0 });
  signal.addEventListener('abort', cut);
  try {
    const nowMs = clock.now();
    const weeks = Array.from({ length: 1 + WEEKS_AHEAD }, (_, ahead) => new Date(nowMs + ahead * WEEK_MS));
    await ensurePartitions(sql, weeks);
    await sql.unsafe(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const [lock] = await sql`select pg_try_advisory_lock(hashtext('assay.retention')) as taken`;
    if (lock?.taken !== true) return null;
    const cutoff = retentionDays === null ? null : await findCutoff(sql, nowMs, retentionDays);
    const errors = new StepErrors();
    const droppedWeeks = await errors.run(async () => {
      // Before their weeks: without one they could not be moved.
      await deleteBefore(sql, 'fresh_bodies', 'created_at', cutoff);
      return await dropWeeks(sql, cutoff);
    });
    // After the weeks, because what is left of a session is counted in its rows.
    if (cutoff !== null && droppedWeeks !== undefined) await errors.run(() => dropSessions(sql, cutoff));
    const deleted = new Map<string, number>();
    for (const [table, column] of TIMED_TABLES) {
      const count = await errors.run(() => deleteBefore(sql, table, column, cutoff));
      deleted.set(table, count ?? 0);
    }
    errors.throwIfAny();
    return {
      weeks: droppedWeeks ?? [],
      claimedRequestIds: deleted.get('claimed_request_ids') ?? 0,
      deadLetters: deleted.get('dead_letters') ?? 0,
      evaluations: deleted.get('evaluations') ?? 0,
    };
  } finally {
    signal.removeEventListener('abort', cut);
    await sql.end({ timeout: 1 });
  }
}

/**
 * Returns the beginning of the week before which everything is older than the retention: Monday, 0:00 UTC. By this process's
 * clock or by Postgres's, whichever is behind: a clock that is days ahead would drop the records of all organizations for good.
 */
async function findCutoff(sql: Sql, nowMs: number, retentionDays: number): Promise<Date> {
  const keptMs = retentionDays * DAY_MS + CLOCK_MARGIN_MS;
  const [row] = await sql<{ monday: Date }[]>`
    select date_trunc('week', least(${new Date(nowMs)}::timestamptz, now()) - ${keptMs} * interval '1 millisecond', 'UTC') as monday`;
  return row!.monday;
}

const PARENTS = ['requests', 'request_bodies', 'request_properties', 'request_scores'];

/** Comment on a partition that is being dropped. One that an operator detached has none, and stays. */
const MARK = 'Dropped by Assay: older than the retention';

type Partition = {
  parent: string;
  name: string;
  week: string;
  isOld: boolean;
  isAttached: boolean;
  /** A detach began, and was interrupted. */
  isPending: boolean;
  isMarked: boolean;
};

async function listPartitions(sql: Sql, cutoff: Date | null): Promise<Partition[]> {
  return await sql<Partition[]>`
    select parent, relname as name, week, coalesce(to_date(week, 'YYYYMMDD')::timestamp at time zone 'UTC' < ${cutoff}, false) as "isOld",
           inhrelid is not null as "isAttached", coalesce(inhdetachpending, false) as "isPending",
           obj_description(c.oid, 'pg_class') is not distinct from ${MARK} as "isMarked"
      from unnest(${PARENTS}::text[]) with ordinality as parents (parent, place)
      join pg_class c on relname ~ ('^' || parent || '_w[0-9]{8}$') and relnamespace = 'assay'::regnamespace
      cross join lateral right(relname, 8) as week
      left join pg_inherits on inhrelid = c.oid
     where relkind = 'r'
     order by week, place`;
}

/** Drops the weeks that lie wholly before `cutoff`, and finishes interrupted drops. Returns the dropped weeks. */
async function dropWeeks(sql: Sql, cutoff: Date | null): Promise<string[]> {
  const partitions = await listPartitions(sql, cutoff);
  // Pending ones first, because a table detaches one partition at a time.
  for (const { parent, name } of partitions.filter(({ isPending }) => isPending)) {
    await sql`alter table ${sql(`assay.${parent}`)} detach partition ${sql(`assay.${name}`)} finalize`;
  }
  const dropped: string[] = [];
  const ours = partitions.filter(({ isAttached, isMarked }) => isAttached || isMarked);
  for (const [week, ofWeek] of Map.groupBy(ours, (partition) => partition.week)) {
    const isBegun = ofWeek.some(
      ({ isAttached, isPending, isMarked }) => isMarked && (!isAttached || isPending),
    );
    if (!isBegun && !ofWeek[0]!.isOld) continue;
    await dropWeek(sql, ofWeek);
    dropped.push(week);
  }
  return dropped;
}

async function dropWeek(sql: Sql, partitions: readonly Partition[]): Promise<void> {
  await sql.begin(async (tx) => {
    for (const { name } of partitions) await tx.unsafe(`comment on table assay.${name} is '${MARK}'`);
  });
  for (const { parent, name, isAttached, isPending } of partitions) {
    if (!isAttached || isPending) continue;
    await sql`alter table ${sql(`assay.${parent}`)} detach partition ${sql(`assay.${name}`)} concurrently`;
  }
  // All together, so that a week exists whole or not at all. No query uses the tables any more.
  await sql`drop table ${sql(partitions.map(({ name }) => `assay.${name}`))}`;
}

/** Rows of one statement: few enough that it takes milliseconds, and vacuum and replicas keep up. */
const DELETED_AT_ONCE = 5_000;

/** Deletes the rows older than `cutoff`, a batch at a time. Returns their number. */
async function deleteBefore(
  sql: Sql,
  table: 'fresh_bodies' | (typeof TIMED_TABLES)[number][0],
  column: string,
  cutoff: Date | null,
): Promise<number> {
  if (cutoff === null) return 0;
  for (let total = 0; ; ) {
    const { count } = await sql`
      delete from ${sql(`assay.${table}`)} where ctid = any(array(
        select ctid from ${sql(`assay.${table}`)} where ${sql(column)} < ${cutoff}
         order by ${sql(column)} limit ${DELETED_AT_ONCE}))`;
    total += count;
    if (count < DELETED_AT_ONCE) return total;
  }
}
