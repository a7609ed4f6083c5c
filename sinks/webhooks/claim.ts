/**
 * Claims due deliveries. A claim is a lease with a number: a process that does not settle in time loses the delivery, so that
 * the deliveries of a killed process become due again by themselves, and a late settlement changes nothing.
 */
import { WEBHOOKS_CHANNEL } from '#core/contracts/channels.ts';
import type { DeliveryEvent, Format, Payload } from '#core/contracts/webhook.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { type Capacity, type Owned, shareCapacity } from './shares.ts';

/** A claimed delivery, with its webhook as it is at the claim. */
export type Job = {
  deliveryId: string;
  claim: number;
  /** Claims before this one, in a row, that no process settled. */
  lost: number;
  /** Attempts before this one. */
  attempts: number;
  event: DeliveryEvent;
  eventAt: Date;
  createdAt: Date | null;
  requestId: string | null;
  details: JsonObject | null;
  /** Time of the first attempt of this schedule; null: this is it. */
  begunAt: string | null;
  webhookId: string;
  organizationId: string;
  url: string;
  payload: Payload;
  format: Format;
  sealed: Uint8Array;
  /** Whether the previous secret signs, too. */
  isRotating: boolean;
  /** Time of the last change of the webhook. */
  webhookChangedAt: Date;
};

/** Longer than an attempt takes, with the time to settle it. The deliveries of a killed process wait for the rest of it. */
export const LEASE_MS = 30_000;

export type Claimed = {
  jobs: Job[];
  /** Time until the next open delivery is due, in milliseconds; 0: some are due already; null: none is open. */
  dueInMs: number | null;
};

/** Claims as many due deliveries as the capacity allows, the longest due of each webhook first. */
export async function claim(
  sql: Sql,
  held: readonly Owned[],
  capacity: Capacity,
  leaseMs: number,
): Promise<Claimed> {
  const open = await openWebhooks(sql);
  const dueInMs = open.length === 0 ? null : Math.min(...open.map((one) => one.dueInMs));
  const due = open.filter((one) => one.dueInMs === 0);
  const shares = shareCapacity(due, held, capacity);
  return { jobs: shares.size === 0 ? [] : await claimShares(sql, shares, leaseMs), dueInMs };
}

async function claimShares(sql: Sql, shares: ReadonlyMap<string, number>, leaseMs: number): Promise<Job[]> {
  // An array: evaluated twice, as a plan may do with a join, `skip locked` would skip the rows locked the first time. And Postgres
  // takes it for short. Of rows that a share limits it expects a tenth of the backlog, and would read all deliveries to update ten.
  return await sql<Job[]>`
    with claimed as (
      update assay.webhook_deliveries
         set state = 'sending', claims = claims + 1, lost = lost + (state = 'sending')::int4, due_at = now() + ${leaseMs} * interval '1 ms'
       where ctid = any(array(
         select d.ctid
           from unnest(${[...shares.keys()]}::uuid[], ${[...shares.values()]}::int4[]) as shares (webhook_id, share)
          cross join lateral (
            select ctid from assay.webhook_deliveries
             where webhook_id = shares.webhook_id and state in ('pending', 'sending') and due_at <= now()
             order by due_at, delivery_id limit shares.share for update skip locked) d))
      returning *
    )
    select d.delivery_id as "deliveryId", d.claims as claim, d.lost, d.attempts, d.event, d.event_at as "eventAt",
           d.created_at as "createdAt", d.request_id as "requestId", d.details,
           d.tries -> (jsonb_array_length(d.tries) - d.attempts) ->> 'at' as "begunAt",
           d.webhook_id as "webhookId", d.organization_id as "organizationId", w.url, w.payload, w.format, w.sealed,
           coalesce(w.previous_until > now(), false) as "isRotating", w.updated_at as "webhookChangedAt"
      from claimed d join assay.webhooks w on w.webhook_id = d.webhook_id
     order by d.event_at, d.delivery_id`;
}

/**
 * Returns the active webhooks with open deliveries, and the time until their next one is due. Costs a few look-ups for each,
 * however many deliveries it has; the order differs from call to call, so that none is always the first.
 */
async function openWebhooks(sql: Sql): Promise<(Owned & { dueInMs: number })[]> {
  return await sql<(Owned & { dueInMs: number })[]>`
    with recursive open (webhook_id) as (
      (select webhook_id from assay.webhook_deliveries where state in ('pending', 'sending')
        order by webhook_id limit 1)
      union all
      select (select d.webhook_id from assay.webhook_deliveries d
               where d.state in ('pending', 'sending') and d.webhook_id > open.webhook_id
               order by d.webhook_id limit 1)
        from open where open.webhook_id is not null
    )
    select w.organization_id as "organizationId", w.webhook_id as "webhookId",
           greatest(0, extract(epoch from greatest(first.due_at, w.not_before) - now()) * 1000)::float8 as "dueInMs"
      from open join assay.webhooks w on w.webhook_id = open.webhook_id
     cross join lateral (
       select d.due_at from assay.webhook_deliveries d
        where d.webhook_id = w.webhook_id and d.state in ('pending', 'sending')
        order by d.due_at, d.delivery_id limit 1) first
     where w.paused_reason is null and w.deleted_at is null
     order by random()`;
}

/** Gives claimed deliveries back at once, because this process ends. */
export async function release(sql: Sql, jobs: readonly Pick<Job, 'webhookId' | 'deliveryId' | 'claim'>[]) {
  await sql`
    update assay.webhook_deliveries d set state = 'pending', due_at = now()
      from unnest(${jobs.map(({ webhookId }) => webhookId)}::uuid[], ${jobs.map(({ deliveryId }) => deliveryId)}::text[],
                  ${jobs.map(({ claim }) => claim)}::int4[]) as held (webhook_id, delivery_id, claims)
     where d.webhook_id = held.webhook_id and d.delivery_id = held.delivery_id and d.claims = held.claims
       and d.state = 'sending'`;
  await sql`select pg_notify(${WEBHOOKS_CHANNEL}, '')`;
}
