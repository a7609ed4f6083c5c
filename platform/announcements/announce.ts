import { randomUUID } from 'node:crypto';
import { describeError } from '#core/contracts/errors.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Logger } from '../observability/log.ts';
import type { Sql } from '../postgres/mod.ts';
import { settlesWithin } from '../process/deadline.ts';
import type { Facts } from './facts.ts';

export type AnnounceOptions<Role extends keyof Facts> = {
  sql: Sql;
  log: Logger;
  role: Role;
  facts: Facts[Role];
  /** Overrides how often the announcement is renewed. */
  renewEveryMs?: number;
};

export type Announcement = {
  /** Withdraws the announcement; never rejects. */
  stop(): Promise<void>;
};

/** Shorter than `LIVES_MS` by far, so that a renewal may fail or be late; long enough to cost nothing. */
const RENEW_EVERY_MS = 20_000;
/** Bound on the withdrawal, so that a process ends soon also without Postgres. */
const WITHDRAWN_WITHIN_MS = 1_000;
/** Age at which the rows of killed processes are deleted. */
const FORGOTTEN_AFTER = '1 day';

/**
 * Announces what this process can do, and renews that until it is stopped. Resolves when the first announcement is
 * written or has failed, which is logged: the process works without it.
 */
export async function announce<Role extends keyof Facts>(
  options: AnnounceOptions<Role>,
): Promise<Announcement> {
  const { sql, log, role } = options;
  const processId = randomUUID();
  const facts = storableJson(options.facts).text;
  let isFailing = false;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    try {
      await sql`delete from assay.announcements where seen_at < now() - ${FORGOTTEN_AFTER}::interval`;
      await sql`
        insert into assay.announcements (process_id, role, facts, seen_at)
        values (${processId}, ${role}, ${facts}::text::jsonb, now())
        on conflict (process_id) do update set seen_at = excluded.seen_at`;
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ error: describeError(error) }, 'Cannot announce the capabilities of this process');
      isFailing = true;
    }
  }

  async function withdraw(): Promise<void> {
    await writing;
    await sql`delete from assay.announcements where process_id = ${processId}`;
  }

  await write();
  const renewing = setInterval(() => {
    writing ??= write().finally(() => {
      writing = null;
    });
  }, options.renewEveryMs ?? RENEW_EVERY_MS);
  renewing.unref();
  return {
    stop: async () => {
      clearInterval(renewing);
      // An announcement that cannot be withdrawn expires.
      await settlesWithin(
        withdraw().catch(() => {}),
        WITHDRAWN_WITHIN_MS,
      );
    },
  };
}
