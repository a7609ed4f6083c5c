/** Deletes old deliveries, and mends those of a clock that was ahead. Every process runs it, a few rows at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOKS_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { onSetBack, type Sql } from '#platform/postgres/mod.ts';
import { bringForward } from './set-back.ts';

const EVERY_MS = 60_000;
/** Deliveries of one statement: few enough that it takes milliseconds. */
const DELETED_AT_ONCE = 1_000;

/** Keeps the deliveries bounded, and due, until it is stopped. */
export function startDeliveryKeeper({ sql, log }: { sql: Sql; log: Logger }): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const followClock = onSetBack(sql, () => bringAllForward({ sql, log }, signal));
  const keep = async () => {
    while (!signal.aborted) {
      try {
        await followClock();
        await dropOldDeliveries(sql, signal);
      } catch (error) {
        if (!signal.aborted)
          log.warn({ error: describeError(error) }, 'cannot delete old deliveries; will try again');
      }
      await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };
  const running = keep();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Brings deliveries forward after the clock was set back, and tells those who deliver. */
async function bringAllForward({ sql, log }: { sql: Sql; log: Logger }, signal: AbortSignal): Promise<void> {
  const deliveries = await bringForward(sql, signal);
  if (deliveries === 0) return;
  log.warn({ deliveries }, 'the clock was set back: deliveries that it kept waiting are brought forward');
  await sql`select pg_notify(${WEBHOOKS_CHANNEL}, '')`;
}

/**
 * Deletes deliveries that ended a week ago, failed ones after a month, and all of deleted webhooks. Returns their number.
 * @internal Exported so that tests run one round.
 */
export async function dropOldDeliveries(
  sql: Sql,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  let total = 0;
  for (const statement of [dropEnded, dropFailed, dropOfDeleted]) {
    let dropped = DELETED_AT_ONCE;
    while (dropped === DELETED_AT_ONCE && !signal.aborted) {
      dropped = await statement(sql);
      total += dropped;
    }
  }
  return total;
}

async function dropEnded(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from assay.webhook_deliveries where ctid = any(array(
      select ctid from assay.webhook_deliveries
       where state in ('delivered', 'cancelled') and finished_at < now() - interval '7 days'
       order by finished_at limit ${DELETED_AT_ONCE} for update skip locked))`;
  return count;
}

async function dropFailed(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from assay.webhook_deliveries where ctid = any(array(
      select ctid from assay.webhook_deliveries
       where state = 'failed' and finished_at < now() - interval '30 days'
       order by finished_at limit ${DELETED_AT_ONCE} for update skip locked))`;
  return count;
}

async function dropOfDeleted(sql: Sql): Promise<number> {
  // In the order of the primary key, which is read for each webhook: Postgres expects as many deliveries of a deleted one as of any
  // other, and would read all of all webhooks in order to find that none is left.
  const { count } = await sql`
    delete from assay.webhook_deliveries where ctid = any(array(
      select d.ctid
        from assay.webhooks w
       cross join lateral (
         select ctid from assay.webhook_deliveries d
          where d.webhook_id = w.webhook_id
          order by d.delivery_id limit ${DELETED_AT_ONCE} for update skip locked) d
       where w.deleted_at is not null limit ${DELETED_AT_ONCE}))`;
  return count;
}
