/**
 * Evaluations, and runs of experiments, after a clock that was ahead has been set back. Times that it wrote lie in a future that may
 * be hours or months away, and what is due then would wait for it.
 */
import { EVALUATIONS_CHANNEL, EXPERIMENTS_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, onSetBack, type Sql } from '#platform/postgres/mod.ts';
import { startPolling } from '#platform/process/polling.ts';
import { LONGEST_WAIT_MS } from './experiments/mod.ts';
import { LEASE_MS } from './queue/mod.ts';

const EVERY_MS = 60_000;
/** Rows of one statement: few enough that it takes milliseconds. */
const AT_ONCE = 1_000;
/** Clocks of processes may differ by some seconds from that of Postgres. */
const SKEW_MS = 60_000;

/** Looks at the clock of Postgres each minute, and at once, and brings work forward after it was set back. */
export function followClock({ sql, log }: { sql: Sql; log: Logger }): { stop(): Promise<void> } {
  const look = onSetBack(sql, () => bringAllForward(sql, log));
  return startPolling({
    work: async () => {
      await look();
      return EVERY_MS;
    },
    onError: (error) => {
      if (!isStoreUnavailable(error))
        log.error({ error: describeError(error) }, 'cannot bring work forward after the clock was set back');
    },
    retryMs: EVERY_MS,
  });
}

/** @internal Exported so that tests run one round. */
export async function bringAllForward(sql: Sql, log: Logger): Promise<void> {
  const evaluations = await inBatches(() => bringEvaluationsForward(sql));
  const runs = await inBatches(() => bringRunsForward(sql));
  if (evaluations + runs === 0) return;
  log.warn({ evaluations, runs }, 'the clock was set back: work that it kept waiting is brought forward');
  await sql`
    select pg_notify(channel, '') from unnest(${[EVALUATIONS_CHANNEL, EXPERIMENTS_CHANNEL]}::text[]) as channel`;
}

/** Repeats a statement until it finds less than it may. Returns how many rows it changed in all. */
async function inBatches(change: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const changed = await change();
    total += changed;
    if (changed < AT_ONCE) return total;
  }
}

/**
 * Brings forward what was scheduled in the future, which keeps its wait from then, and leases that end later than any does. One that
 * was scheduled before the clock was ahead, and failed while it was, waits as long as it was ahead.
 */
async function bringEvaluationsForward(sql: Sql): Promise<number> {
  const [skew, lease] = [sql`${SKEW_MS} * interval '1 ms'`, sql`${LEASE_MS} * interval '1 ms'`];
  const { count } = await sql`
    update assay.evaluations
       set due_at = now() + case when state = 'running' then ${lease} else greatest(due_at - scheduled_at, interval '0') end,
           scheduled_at = least(scheduled_at, now())
     where evaluation_id = any(array(
       select evaluation_id from assay.evaluations
        where state in ('pending', 'running') and due_at > now() + ${skew}
          and (scheduled_at > now() + ${skew} or (state = 'running' and due_at > now() + ${lease} + ${skew}))
        limit ${AT_ONCE} for update skip locked))`;
  return count;
}

/** Brings forward runs that wait longer than any does. */
async function bringRunsForward(sql: Sql): Promise<number> {
  const longest = sql`${LONGEST_WAIT_MS + SKEW_MS} * interval '1 ms'`;
  const { count } = await sql`
    update assay.experiment_runs set due_at = now() + ${LEASE_MS} * interval '1 ms'
     where ctid = any(array(
       select ctid from assay.experiment_runs
        where state in ('pending', 'running') and due_at > now() + ${longest}
        limit ${AT_ONCE} for update skip locked))`;
  return count;
}
