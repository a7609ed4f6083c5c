/**
 * The work on deletions by filter. A page of matching requests is found first, without any lock; then its erasure and the
 * job's new place are one transaction, in which the job must still stand where the page began. So any number of processes
 * may work on a job, and one that is killed has either erased a page and noted it, or neither.
 */
import { describeError } from '#core/contracts/errors.ts';
import { Parameters, parseFilter } from '#core/filter/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import {
  inOrganization,
  isCancelled,
  isStoreUnavailable,
  noteActor,
  type Sql,
  type TransactionSql,
  withActor,
  withinTime,
} from '#platform/postgres/mod.ts';
import { type Polling, startPolling } from '#platform/process/polling.ts';
import { Rests } from '#platform/process/rests.ts';
import { oldestRequestMs, type Page, TimeSlices } from '#platform/records/mod.ts';
import { conditionOf, runStatement } from '../requests/mod.ts';
import { eraseCopies, eraseRequests, PAGE } from './erase.ts';

/** Time until the next look while there are jobs, of which a page failed. */
const RETRY_MS = 1_000;
/** Time until the next look without a job: one of another process is taken over if that process dies. */
const IDLE_MS = 30_000;
/** Time to look for a page. All deletions take turns in one connection, and a page that takes longer is looked for in less of the log. */
const FIND_MS = 10_000;
/** Failures in a row after which a job ends. */
const MAX_FAILURES = 5;

export type EraseOptions = {
  /** As the owner of the tables, to find the jobs of all organizations. */
  sql: Sql;
  log: Logger;
  /** Overrides the time to look for a page, in milliseconds. */
  findMs?: number;
  /** Announces an erasure to the gateways that Postgres's notifications do not reach. */
  announce(): Promise<void>;
};

/** Works on the jobs of all organizations until it is stopped. */
export function startErasing(options: EraseOptions): Polling {
  const rests = new Rests();
  const slices = slicesFor(options);
  return startPolling({
    // Page after page as long as there is a job; organizations and their jobs take turns.
    work: async () => {
      if ((await eraseNextPage(options, rests, slices)) !== null) return 0;
      return (await findJob(options.sql, [])) === undefined ? IDLE_MS : RETRY_MS;
    },
    onError: (error) => {
      if (isStoreUnavailable(error)) return;
      options.log.error({ error: describeError(error) }, 'cannot work on deletions');
    },
  });
}

function slicesFor({ findMs = FIND_MS }: EraseOptions): TimeSlices {
  return new TimeSlices(findMs);
}

type Job = {
  jobId: string;
  organizationId: string;
  filter: unknown;
  until: Date;
  keyId: string | null;
  cursorCreatedAt: Date | null;
  cursorRequestId: string | null;
};

type Key = { created_at: Date; request_id: string };

/**
 * Erases a page of the job that has waited longest, of an organization that does not rest if there is one.
 * @returns the number of erased requests; null when there is no job, or its page failed or took too long to find
 * @internal Exported so that tests erase one page at a time.
 */
export async function eraseNextPage(
  options: EraseOptions,
  rests: Rests = new Rests(),
  slices: TimeSlices = slicesFor(options),
): Promise<number | null> {
  const job = await findJob(options.sql, rests.owners());
  if (job === undefined) return null;
  return await rests.after(job.organizationId, () => erasePageOf(job, options, slices));
}

/** @returns as `eraseNextPage` */
async function erasePageOf(job: Job, options: EraseOptions, slices: TimeSlices): Promise<number | null> {
  const { sql, log, announce } = options;
  try {
    const page = await findPage(job, options, slices);
    if (page === null) return null;
    const ids = page.keys.map(({ request_id }) => request_id);
    await eraseCopies((work) => asOrganization(sql, job, work), ids, job.keyId);
    const erased = await asOrganization(sql, job, (tx) => erasePage(tx, job, page));
    if (erased > 0) await announce();
    return erased;
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    log.error({ jobId: job.jobId, error: describeError(error) }, 'cannot erase a page of a deletion');
    await noteFailure(sql, job);
    return null;
  }
}

/** Returns the job that has waited longest, of an organization that does not rest if there is one. */
async function findJob(sql: Sql, resting: readonly string[]): Promise<Job | undefined> {
  const [job] = await sql<Job[]>`
    select job_id as "jobId", organization_id as "organizationId", filter, until, erased_by as "keyId",
           cursor_created_at as "cursorCreatedAt", cursor_request_id as "cursorRequestId"
      from assay.erasure_jobs where state = 'running'
     order by organization_id = any(${[...resting]}::uuid[]), updated_at, job_id limit 1`;
  return job;
}

/**
 * Runs `work` under row-level security, as a call of the key that started the job. The call that woke this process may be
 * of another organization, whose key must not be in the audit log of this one.
 */
function asOrganization<T>(
  sql: Sql,
  { organizationId, keyId }: Job,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  return withActor(() => {
    if (keyId !== null) noteActor(keyId);
    return inOrganization(sql, organizationId, async (tx) => {
      await tx`set local role assay_api`;
      return await work(tx);
    });
  });
}

/** Finds the next page. Null: it took too long; the next look is at less of the log. */
async function findPage(
  job: Job,
  { sql, findMs = FIND_MS }: EraseOptions,
  slices: TimeSlices,
): Promise<Page<Key> | null> {
  const { jobId, organizationId } = job;
  const fromMs = (job.cursorCreatedAt ?? job.until).getTime();
  try {
    return await slices.nextPage(jobId, fromMs, PAGE, (floorMs) =>
      asOrganization(sql, job, (tx) => withinTime(tx, findMs, (apart) => selectPage(apart, job, floorMs))),
    );
  } catch (error) {
    const isShorter =
      isCancelled(error) && slices.shorten(jobId, fromMs, await oldestRequestMs(sql, organizationId));
    if (!isShorter) throw error;
    await sql`
      update assay.erasure_jobs set updated_at = now()
       where organization_id = ${organizationId} and job_id = ${jobId} and state = 'running'`;
    return null;
  }
}

async function selectPage(tx: TransactionSql, job: Job, floorMs: number | null): Promise<Key[]> {
  const parameters = new Parameters();
  const query = {
    filter: parseFilter(job.filter),
    isCached: false,
    isPartOfExperiment: false,
    isScored: false,
  };
  const organization = parameters.bind(job.organizationId, 'uuid');
  const conditions = [
    conditionOf(query, organization, parameters, { joins: false }),
    `r.created_at <= ${parameters.bind(job.until.toISOString(), 'timestamptz')}`,
  ];
  if (floorMs !== null)
    conditions.push(`r.created_at >= ${parameters.bind(new Date(floorMs).toISOString(), 'timestamptz')}`);
  if (job.cursorCreatedAt !== null) {
    const at = parameters.bind(job.cursorCreatedAt.toISOString(), 'timestamptz');
    conditions.push(
      `(r.created_at, r.request_id) < (${at}, ${parameters.bind(job.cursorRequestId, 'text')})`,
    );
  }
  const text = `
    select r.created_at, r.request_id from assay.requests r where ${conditions.join(' and ')}
     order by r.created_at desc, r.request_id desc limit ${PAGE}`;
  return runStatement<Key>(tx, { text, values: parameters.values });
}

/** Erases a page. Returns 0 when the job was cancelled, or another process has erased the page, in the meantime. */
async function erasePage(tx: TransactionSql, job: Job, { keys, next }: Page<Key>): Promise<number> {
  const last = keys.at(-1);
  const isLast = next === null;
  // The row is locked from here on: a cancellation waits, and another process finds that the job has moved on.
  const moved = await tx`
    update assay.erasure_jobs
       set cursor_created_at = ${next?.createdAt ?? last?.created_at ?? job.cursorCreatedAt},
           cursor_request_id = ${next?.requestId ?? last?.request_id ?? job.cursorRequestId},
           failures = 0, updated_at = now(), state = case when ${isLast} then 'completed' else 'running' end,
           finished_at = case when ${isLast} then now() end, filter = case when ${isLast} then null else filter end
     where organization_id = ${job.organizationId} and job_id = ${job.jobId} and state = 'running'
       and cursor_created_at is not distinct from ${job.cursorCreatedAt}::timestamptz
       and cursor_request_id is not distinct from ${job.cursorRequestId}::text
    returning 1`;
  if (moved.length === 0 || keys.length === 0) return 0;
  const { erased } = await eraseRequests(
    tx,
    keys.map((key) => key.request_id),
    job.keyId,
  );
  await tx`
    update assay.erasure_jobs set erased = erased + ${erased}
     where organization_id = ${job.organizationId} and job_id = ${job.jobId}`;
  return erased;
}

/** Lets a job whose page failed go last, or ends it. */
async function noteFailure(sql: Sql, { organizationId, jobId }: Job): Promise<void> {
  await sql`
    update assay.erasure_jobs
       set failures = failures + 1, updated_at = now(),
           state = case when failures + 1 < ${MAX_FAILURES} then state else 'failed' end,
           finished_at = case when failures + 1 < ${MAX_FAILURES} then null else now() end,
           filter = case when failures + 1 < ${MAX_FAILURES} then filter end,
           error = case when failures + 1 < ${MAX_FAILURES} then null
                        else 'Its filter took too long or failed: delete by a narrower one' end
     where organization_id = ${organizationId} and job_id = ${jobId} and state = 'running'`;
}
