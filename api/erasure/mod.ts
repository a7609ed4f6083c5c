/** Erasure of requests: of one at once, of all that pass a filter by a job in the background. */

import type { ErasureBody } from '#core/contracts/erasure.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { type Filter, parseFilter } from '#core/filter/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import {
  inOrganization,
  lockName,
  noteUrgent,
  type Sql,
  type TransactionSql,
} from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { unknown } from '../ids.ts';
import { awaitRequest, type RequestService } from '../requests/mod.ts';
import { eraseCopies, eraseRequests } from './erase.ts';
import { type DeletionCountJson, type DeletionJson, deletionJson, type JobRow } from './job-json.ts';

export { DeletionCountJson, DeletionJson } from './job-json.ts';
export { startErasing } from './work.ts';

/** An API key, for which something is erased. */
type Eraser = { organizationId: string; keyId: string };

/** The work behind the routes that delete requests, for one organization at a time. */
export type ErasureService = {
  /** Erases one request. Doing so again changes nothing. */
  erase(key: Eraser, requestId: string): Promise<null>;
  /** Starts a job, or counts with dryRun. */
  start(key: Eraser, body: ErasureBody): Promise<DeletionJson | DeletionCountJson>;
  /** Newest first. */
  list(organizationId: string): Promise<DeletionJson[]>;
  get(organizationId: string, jobId: string): Promise<DeletionJson>;
  /** Ends a job early; what is deleted stays deleted. */
  cancel(organizationId: string, jobId: string): Promise<DeletionJson>;
};

export type ErasureOptions = {
  /** Under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  requests: Pick<RequestService, 'count'>;
  /** Called when a job was started, to begin it at once. */
  onStarted(): void;
  /** Announces an erasure to the gateways that Postgres's notifications do not reach. */
  announce(): Promise<void>;
};

/** Limit of one organization's running jobs: they take turns. */
const MAX_RUNNING_JOBS = 10;
const MAX_LISTED = 100;

/** Returns whether a filter passes every request, as far as its form tells. */
function passesAll(filter: Filter): boolean {
  if (filter.kind !== 'branch') return filter.kind === 'all';
  const { left, right, operator } = filter;
  return operator === 'or' ? passesAll(left) || passesAll(right) : passesAll(left) && passesAll(right);
}

/** @throws AssayError invalid_filter, invalid_body */
function checkFilter(filter: unknown, { q, confirm }: ErasureBody): void {
  const isAll = passesAll(parseFilter(filter));
  const name = q === undefined ? 'filter' : 'q';
  if (isAll && confirm !== 'all') {
    throw new AssayError(
      'invalid_body',
      `${name} has no condition, so every request would be deleted: send "confirm": "all" if that is meant`,
    );
  }
  if (!isAll && confirm === 'all') {
    throw new AssayError(
      'invalid_body',
      `confirm belongs to a filter without a condition, but ${name} has one`,
    );
  }
}

async function find(tx: TransactionSql, organizationId: string, jobId: string): Promise<DeletionJson> {
  const [row] = await tx<JobRow[]>`
    select * from assay.erasure_jobs where organization_id = ${organizationId} and job_id = ${jobId}`;
  if (row === undefined) throw unknown('deletion', jobId);
  return deletionJson(row);
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  // One after the other, so that two callers cannot both start the last one.
  await lockName(tx, `erasure_jobs ${organizationId}`);
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.erasure_jobs
    where organization_id = ${organizationId} and state = 'running'`;
  if (row!.count < MAX_RUNNING_JOBS) return;
  throw new AssayError('conflict', `An organization can have at most ${MAX_RUNNING_JOBS} running deletions`);
}

export function createErasureService(options: ErasureOptions): ErasureService {
  const { sql, clock, requests, onStarted, announce } = options;
  return {
    async erase({ organizationId, keyId }, requestId) {
      const inTransaction = <Result>(work: (tx: TransactionSql) => Promise<Result>) =>
        inOrganization(sql, organizationId, work);
      await eraseCopies(inTransaction, [storableText(requestId)], keyId);
      const { erased } = await awaitRequest(requestId, { sql, clock, organizationId }, async () => {
        const result = await inOrganization(sql, organizationId, (tx) =>
          eraseRequests(tx, [storableText(requestId)], keyId),
        );
        return result.known > 0 && result;
      });
      if (erased > 0) await announce();
      return null;
    },

    async start({ organizationId, keyId }, body) {
      const filter = filterOf(body);
      if (body.dryRun === true) return { matching: await requests.count(organizationId, { filter }) };
      checkFilter(filter, body);
      const started = await inOrganization(sql, organizationId, async (tx) => {
        await refuseTooMany(tx, organizationId);
        const at = new Date(clock.now());
        const [row] = await tx<JobRow[]>`
          insert into assay.erasure_jobs (organization_id, filter, until, erased_by, created_at, updated_at)
          values (${organizationId}, ${storableJson(filter).text}::text::jsonb, ${at}, ${keyId}, ${at}, ${at})
          returning *`;
        return deletionJson(row!);
      });
      onStarted();
      return started;
    },

    async list(organizationId) {
      const rows = await inOrganization(
        sql,
        organizationId,
        (tx) => tx<JobRow[]>`
          select * from assay.erasure_jobs where organization_id = ${organizationId}
          order by created_at desc, job_id desc limit ${MAX_LISTED}`,
      );
      return rows.map(deletionJson);
    },

    async get(organizationId, jobId) {
      return inOrganization(sql, organizationId, (tx) => find(tx, organizationId, jobId));
    },

    async cancel(organizationId, jobId) {
      noteUrgent();
      return inOrganization(sql, organizationId, async (tx) => {
        const at = new Date(clock.now());
        await tx`
          update assay.erasure_jobs set state = 'cancelled', filter = null, updated_at = ${at}, finished_at = ${at}
          where organization_id = ${organizationId} and job_id = ${jobId} and state = 'running'`;
        const job = await find(tx, organizationId, jobId);
        if (job.state === 'cancelled') return job;
        throw new AssayError(
          'conflict',
          `The deletion is ${job.state}: only one that is running can be cancelled`,
        );
      });
    },
  };
}
