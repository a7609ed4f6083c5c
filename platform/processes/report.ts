/**
 * The report of a process: one row, made with its facts, then updated every ten seconds by one statement, and removed at its
 * end. The rows of killed processes are removed by the others. A process without Postgres works on and misses its reports.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { describeError } from '#core/contracts/errors.ts';
import type { ProcessStates } from '#core/contracts/process-state.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Logger } from '../observability/log.ts';
import type { Sql } from '../postgres/mod.ts';
import { settlesWithin } from '../process/deadline.ts';
import { startPolling } from '../process/polling.ts';
import { VERSION } from '../process/version.ts';
import type { ProcessFacts } from './facts.ts';

export type ReportOptions<Role extends keyof ProcessStates> = {
  /** A pool of the owner. One connection of it is used for a millisecond at each report, by one report at a time. */
  sql: Sql;
  log: Logger;
  role: Role;
  /** Facts about this process that other roles read. They do not change, and none may be secret. */
  facts: ProcessFacts[Role];
  /** Returns the state to report; must not throw because Postgres is away. */
  read(): ProcessStates[Role] | Promise<ProcessStates[Role]>;
  /** Overrides how often it reports. */
  everyMs?: number;
};

export type ProcessReport = {
  /** Removes the row; never rejects. */
  stop(): Promise<void>;
};

/** A process that is stuck is noticed within half a minute; six statements a minute cost next to nothing. */
const EVERY_MS = 10_000;
/** Silence after which a row is removed: longer than it counts as alive, by far. */
const FORGOTTEN_AFTER = '60 seconds';
/** Bounds on waiting for the first report and for the removal, so that a process starts and ends soon also without Postgres. */
const FIRST_WITHIN_MS = 3_000;
const REMOVED_WITHIN_MS = 1_000;

/**
 * Reports this process until it is stopped. Resolves once the first report is written or has failed, after three seconds
 * at the latest: whoever waits for a role to start finds its facts. A failure is logged once, until a report succeeds again.
 */
export async function reportProcess<Role extends keyof ProcessStates>(
  options: ReportOptions<Role>,
): Promise<ProcessReport> {
  const { sql, log, everyMs = EVERY_MS } = options;
  const processId = randomUUID();
  const write = createWriter(processId, options);
  const firstEnded = Promise.withResolvers<void>();
  let isStopped = false;
  let isFailing = false;

  const polling = startPolling({
    work: async () => {
      await write().finally(firstEnded.resolve);
      isFailing = false;
      return everyMs;
    },
    retryMs: everyMs,
    onError: (error) => {
      if (!isFailing && !isStopped) log.warn({ error: describeError(error) }, 'cannot report this process');
      isFailing = true;
    },
  });
  await settlesWithin(firstEnded.promise, FIRST_WITHIN_MS);

  async function remove(): Promise<void> {
    await polling.stop();
    await sql`delete from assay.processes where process_id = ${processId}`;
  }
  return {
    stop: async () => {
      isStopped = true;
      // A row that cannot be removed is removed by another process.
      await settlesWithin(
        remove().catch(() => {}),
        REMOVED_WITHIN_MS,
      );
    },
  };
}

/** Returns the function that writes one report. */
function createWriter<Role extends keyof ProcessStates>(
  processId: string,
  { sql, role, read, ...options }: ReportOptions<Role>,
): () => Promise<void> {
  const startedAt = new Date();
  const facts = options.facts === null ? null : storableJson(options.facts).text;
  return async () => {
    const state = storableJson(await read()).text;
    // Skips rows that another process is removing, so that no two wait for each other.
    const updated = await sql`
      with gone as (
        delete from assay.processes where process_id in (
          select process_id from assay.processes
           where at < now() - ${FORGOTTEN_AFTER}::interval and process_id <> ${processId} for update skip locked))
      update assay.processes set at = now(), state = ${state}::text::jsonb where process_id = ${processId}`;
    if (updated.count > 0) return;
    // The first report, or the row is gone after a minute of silence.
    await sql`
      insert into assay.processes (process_id, role, host, pid, version, started_at, at, state, facts)
      values (${processId}, ${role}, ${hostname()}, ${process.pid}, ${VERSION}, ${startedAt}, now(),
              ${state}::text::jsonb, ${facts}::text::jsonb)`;
  };
}
