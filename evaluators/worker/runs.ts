/**
 * Schedules runs, which score history: a page of requests at a time, from the newest back, becomes pending evaluations. A
 * run's cursor is written in the transaction of its page, so that any process continues there after a crash.
 */
import { RUNS_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { laneOf, type ScoringType } from '#core/scoring/mod.ts';
import { orTakeOver } from '#platform/evaluations/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import {
  holdErasuresBriefly,
  isCancelled,
  isStoreUnavailable,
  type Listener,
  onAnnounced,
  type Sql,
  type TransactionSql,
} from '#platform/postgres/mod.ts';
import { startPolling } from '#platform/process/polling.ts';
import { Rests } from '#platform/process/rests.ts';
import { type Key, RunRequests, type Sample, type Walk } from './run-requests.ts';

/** Time between looks while runs wait for their evaluations, or for a page that failed to be tried again. */
const BUSY_SLEEP_MS = 1_000;
const PAGE = 500;
/** Unfinished evaluations of one run: fewer, and the workers run dry; more, and a pause takes long to have effect. */
const MAX_UNFINISHED = 2_000;
/** After evaluations of incoming requests (0) and probes (1). */
const PRIORITY = 2;

type RunsOptions = {
  sql: Sql;
  listener: Listener;
  log: Logger;
  /** Called when evaluations were scheduled. */
  onScheduled(): void;
};

type Run = Walk & {
  version: number;
  /** Requests that it may still take; null: all. */
  left: number | null;
  scoringType: ScoringType;
  adapter: string | null;
};

/** Schedules pages of runs until it is stopped. */
export function scheduleRuns({ sql, listener, log, onScheduled }: RunsOptions): { stop(): Promise<void> } {
  const rests = new Rests();
  const requests = new RunRequests();
  const polling = startPolling({
    // Page after page as long as any run has one; organizations and their runs take turns.
    work: async () => {
      const scheduled = await scheduleNextPage(sql, log, rests, requests);
      if (scheduled !== null && scheduled > 0) onScheduled();
      if (scheduled !== null) return 0;
      return (await areRunsWaiting(sql)) ? BUSY_SLEEP_MS : announced.longestSleepMs();
    },
    onError: (error) => {
      if (!isStoreUnavailable(error)) log.error({ error: describeError(error) }, 'cannot schedule runs');
    },
  });
  const announced = onAnnounced(listener, RUNS_CHANNEL, polling.wake);
  return {
    stop: async () => {
      await Promise.all([polling.stop(), announced.stop()]);
    },
  };
}

/** Returns whether a run has pages left, although none can be scheduled now. */
async function areRunsWaiting(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from assay.evaluation_runs r join assay.evaluators e on e.evaluator_id = r.evaluator_id
     where r.state = 'running' and e.paused_reason is null limit 1`;
  return rows.length > 0;
}

/**
 * Schedules a page of the run that has waited longest, of an organization that does not rest if there is one.
 * @returns the number of evaluations scheduled; null if no run can continue now, or the page failed
 * @internal Exported so that tests schedule one page at a time.
 */
export async function scheduleNextPage(
  sql: Sql,
  log: Logger,
  rests: Rests = new Rests(),
  requests: RunRequests = new RunRequests(),
): Promise<number | null> {
  return await sql.begin(async (tx) => {
    const run = await takeRun(tx, rests.owners());
    if (run === null) return null;
    return await rests.after(run.organizationId, () => schedulePage(tx, run, requests, log));
  });
}

async function schedulePage(
  tx: TransactionSql,
  run: Run,
  requests: RunRequests,
  log: Logger,
): Promise<number | null> {
  const find = <T>(query: (apart: TransactionSql) => Promise<T>) => orPostpone(tx, run, requests, log, query);
  if (run.sampleSize !== null && run.sampleUntil === null) {
    return await find(async (apart) => noteSample(apart, run, await requests.findSample(apart, run)));
  }
  const limit = Math.min(PAGE, run.left ?? PAGE);
  const page =
    limit === 0 ? { keys: [], next: null } : await find((apart) => requests.nextPage(apart, run, limit));
  if (page === null) return null;
  if (!(await lockRun(tx, run))) return 0;
  const scheduled = page.keys.length === 0 ? 0 : await schedule(tx, run, page.keys);
  const last = page.keys.at(-1);
  const reached = page.next ?? {
    createdAt: last?.created_at ?? run.cursorCreatedAt,
    requestId: last?.request_id ?? run.cursorRequestId,
  };
  await tx`
    update assay.evaluation_runs
       set scheduled = scheduled + ${scheduled}, updated_at = now(),
           state = ${page.next === null ? 'scheduled' : 'running'},
           cursor_created_at = ${reached.createdAt}, cursor_request_id = ${reached.requestId}
     where run_id = ${run.runId}`;
  return scheduled;
}

/** Runs that are looked at: other processes may have taken the first of them. */
const MOST_TAKEN = 64;

/**
 * Takes a run for this transaction, by an advisory lock, not by its row: finding a page may take seconds, and a row's lock would keep
 * the feed of changes waiting for all organizations, and the run's owner from cancelling it.
 */
async function takeRun(tx: TransactionSql, resting: readonly string[]): Promise<Run | null> {
  for (const run of await selectRuns(tx, resting)) {
    const [taken] = await tx<{ isTaken: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${`assay.run ${run.runId}`}, 0)) as "isTaken"`;
    if (!taken!.isTaken) continue;
    // Another process may have scheduled the page, and let go of the run, since it was selected.
    if (await isUnchanged(tx, run)) return run;
  }
  return null;
}

const conditionUnchanged = (tx: TransactionSql, run: Run) => tx`
  run_id = ${run.runId} and state = 'running' and sample_until is not distinct from ${run.sampleUntil}::int8
  and cursor_created_at is not distinct from ${run.cursorCreatedAt}::timestamptz
  and cursor_request_id is not distinct from ${run.cursorRequestId}::text`;

async function isUnchanged(tx: TransactionSql, run: Run): Promise<boolean> {
  const rows = await tx`select from assay.evaluation_runs where ${conditionUnchanged(tx, run)}`;
  return rows.length === 1;
}

/** Locks the row of a run. Returns false when it was paused or cancelled since. */
async function lockRun(tx: TransactionSql, run: Run): Promise<boolean> {
  const rows = await tx`select from assay.evaluation_runs where ${conditionUnchanged(tx, run)} for update`;
  return rows.length === 1;
}

/** Selects the runs that can continue, in the order of their turns. */
async function selectRuns(tx: TransactionSql, resting: readonly string[]): Promise<Run[]> {
  return await tx<Run[]>`
    select r.run_id as "runId", r.organization_id as "organizationId", r.evaluator_id as "evaluatorId", r.version, r.filter,
           r.max_requests - r.scheduled as "left", r.until, r.cursor_created_at as "cursorCreatedAt",
           r.cursor_request_id as "cursorRequestId",
           r.sample_size as "sampleSize", r.sample_seed as "sampleSeed", r.sample_until as "sampleUntil", e.scope,
           e.scoring_type as "scoringType",
           v.external_config ->> 'adapter' as adapter
      from assay.evaluation_runs r
      join assay.evaluators e on e.evaluator_id = r.evaluator_id
      join assay.evaluator_versions v on v.evaluator_id = r.evaluator_id and v.version = r.version
     where r.state = 'running' and e.paused_reason is null
       and (select count(*) from (select from assay.evaluations w where w.run_id = r.run_id
             and w.state in ('pending', 'running') limit ${MAX_UNFINISHED}) waiting) < ${MAX_UNFINISHED}
     order by r.organization_id = any(${[...resting]}::uuid[]), r.updated_at limit ${MOST_TAKEN}`;
}

/**
 * Returns what a query of a run returns; null if it failed or timed out: then the run goes last, and delays no other. One that timed
 * out looks through less time from then on.
 */
async function orPostpone<T>(
  tx: TransactionSql,
  run: Run,
  requests: RunRequests,
  log: Logger,
  query: (apart: TransactionSql) => Promise<T>,
): Promise<T | null> {
  try {
    return (await tx.savepoint(query)) as T;
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    const isShorter = isCancelled(error) && (await requests.shorten(tx, run));
    if (!isShorter)
      log.error({ runId: run.runId, error: describeError(error) }, 'cannot schedule a page of a run');
    await putLast(tx, run);
    return null;
  }
}

/**
 * Notes the sample of a run, which goes last, or how far it looked for it: then it looks on at its next turn.
 * @returns null when it could not look: nothing else may have work, and the next turn waits a moment
 */
async function noteSample(tx: TransactionSql, run: Run, sample: Sample): Promise<0 | null> {
  if (sample === 'no room') {
    await putLast(tx, run);
    return null;
  }
  const { until, reachedAt } =
    'until' in sample
      ? { until: sample.until, reachedAt: null }
      : { until: null, reachedAt: new Date(sample.reachedMs) };
  await tx`
    update assay.evaluation_runs
       set sample_until = ${until}::int8, cursor_created_at = ${reachedAt}, cursor_request_id = null, updated_at = now()
     where run_id = ${run.runId} and state = 'running'`;
  return 0;
}

async function putLast(tx: TransactionSql, { runId }: Run): Promise<void> {
  await tx`
    update assay.evaluation_runs set updated_at = clock_timestamp()
     where run_id = ${runId} and state = 'running'`;
}

async function schedule(tx: TransactionSql, run: Run, page: readonly Key[]): Promise<number> {
  // Until the page is committed no erasure begins, which could miss its evaluations. Not before the page is found, which may take
  // long: an erasure that waits for this lock keeps ingest waiting, too.
  await holdErasuresBriefly(tx, run.organizationId);
  const { count } = await tx`
    insert into assay.evaluations as e
      (organization_id, evaluator_id, version, created_at, request_id, session_id, run_id, lane, priority, due_at, scheduled_at)
    select ${run.organizationId}, ${run.evaluatorId}, ${run.version}::int4, created_at, request_id,
           case when ${run.scope === 'session'} then session_id end, ${run.runId},
           ${laneOf(run.scoringType, run.adapter)}, ${PRIORITY}, now(), now()
      from unnest(${page.map((key) => key.created_at.toISOString())}::timestamptz[], ${page.map((key) => key.request_id)}::text[],
                  ${page.map((key) => key.session_id)}::text[])
        as page (created_at, request_id, session_id)
     where not exists (select from assay.erased_requests t
                        where t.organization_id = ${run.organizationId} and t.request_id = page.request_id)
    ${orTakeOver(tx)}`;
  return count;
}
