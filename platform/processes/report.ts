/**
 * The report of a process: one row, written every ten seconds by one statement, and removed at its end. The rows of killed
 * processes are removed by the others. A process without Postgres works on and misses its reports.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { describeError } from '#core/contracts/errors.ts';
import type { ProcessStates } from '#core/contracts/process-state.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Logger } from '../observability/log.ts';
import type { Sql } from '../postgres/mod.ts';
import { settlesWithin } from '../process/deadline.ts';
import { VERSION } from '../process/version.ts';

export type ReportOptions<Role extends keyof ProcessStates> = {
  /** A pool of the owner. One connection of it is used for a millisecond at each report, by one report at a time. */
  sql: Sql;
  log: Logger;
  role: Role;
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
/** Bound on the removal at the end, so that a process ends soon also without Postgres. */
const REMOVED_WITHIN_MS = 1_000;

/** Starts reporting this process. Nothing waits for a report; a failure is logged once, until a report succeeds again. */
export function reportProcess<Role extends keyof ProcessStates>(options: ReportOptions<Role>): ProcessReport {
  const { sql, log, role, read } = options;
  const processId = randomUUID();
  const startedAt = new Date();
  let isStopped = false;
  let isFailing = false;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    try {
      const state = storableJson(await read()).text;
      // Skips rows that another process is removing, so that no two wait for each other.
      await sql`
        with gone as (
          delete from assay.processes where process_id in (
            select process_id from assay.processes
             where at < now() - ${FORGOTTEN_AFTER}::interval and process_id <> ${processId} for update skip locked))
        insert into assay.processes (process_id, role, host, pid, version, started_at, at, state)
        values (${processId}, ${role}, ${hostname()}, ${process.pid}, ${VERSION}, ${startedAt}, now(), ${state}::text::jsonb)
        on conflict (process_id) do update set at = excluded.at, state = excluded.state`;
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isStopped)
        log.warn({ error: describeError(error) }, 'cannot report this process to GET /v1/system');
      isFailing = true;
    }
  }

  const report = () => {
    writing ??= write().finally(() => {
      writing = null;
    });
  };
  report();
  const reporting = setInterval(report, options.everyMs ?? EVERY_MS);
  reporting.unref();

  async function remove(): Promise<void> {
    await writing;
    await sql`delete from assay.processes where process_id = ${processId}`;
  }
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(reporting);
      // A row that cannot be removed is removed by another process.
      await settlesWithin(
        remove().catch(() => {}),
        REMOVED_WITHIN_MS,
      );
    },
  };
}
