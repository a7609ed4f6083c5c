/**
 * Deliveries after a clock that was ahead has been set back. Times that it wrote lie in a future that may be hours or months away:
 * what was due at once, is to be tried again or was under way would wait until the clock is there again, and so would all
 * deliveries of a webhook that rests.
 */
import type { Sql } from '#platform/postgres/mod.ts';
import { LEASE_MS } from './claim.ts';
import { LONGEST_REST_MS, LONGEST_WAITS_MS } from './schedule.ts';

/** Deliveries of one statement: few enough that it takes milliseconds. */
const AT_ONCE = 1_000;
/** Clocks of processes may differ by some seconds from that of Postgres. */
const SKEW_MS = 60_000;

/**
 * Brings deliveries and rests forward that are due later than they can be by today's clock. After an attempt in the past a delivery may
 * wait because its receiver asked for it, so it is brought forward only where that would be longer than any wait: else it waits as
 * long as the clock was ahead, up to that. Returns the number of deliveries.
 */
export async function bringForward(sql: Sql, signal: AbortSignal): Promise<number> {
  await sql`
    update assay.webhooks set not_before = null where not_before > now() + ${LONGEST_REST_MS} * interval '1 ms'`;
  let total = 0;
  let brought = AT_ONCE;
  while (brought === AT_ONCE && !signal.aborted) {
    brought = await bringSomeForward(sql);
    total += brought;
  }
  return total;
}

async function bringSomeForward(sql: Sql): Promise<number> {
  const longestMs = sql`
    case when state = 'sending' then ${LEASE_MS}::float8 else (${[...LONGEST_WAITS_MS]}::float8[])[attempts + 1] end`;
  const { count } = await sql`
    update assay.webhook_deliveries set due_at = now() + ${longestMs} * interval '1 ms'
     where ctid = any(array(
      select ctid from assay.webhook_deliveries
       where state in ('pending', 'sending') and due_at > now() + ${longestMs} * interval '1 ms'
         and (state = 'sending' or attempts = 0
              or (tries -> -1 ->> 'at')::timestamptz > now() + ${SKEW_MS} * interval '1 ms'
              or due_at > now() + ${Math.max(...LONGEST_WAITS_MS) + SKEW_MS} * interval '1 ms')
       limit ${AT_ONCE} for update skip locked))`;
  return count;
}
