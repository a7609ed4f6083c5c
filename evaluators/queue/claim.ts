/**
 * Claiming evaluations. A claim takes a lease: a process that does not settle in time loses it, so that the work of a
 * process that died becomes due again by itself. Each organization with due work gets a share of the free capacity, so
 * that none of them, however much it has, delays the others.
 */

import type { Lane } from '#core/scoring/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import { LEASE_MS } from './leases.ts';
import { type ClaimedEvaluation, loadJobs } from './load-jobs.ts';

/** Evaluations of incoming requests, probes, and runs over history, in this order. */
const PRIORITIES = [0, 1, 2];

export type ClaimOptions = {
  lane: Lane;
  /** Maximum number of evaluations to claim. */
  limit: number;
  /** The number of further evaluations that an organization may hold; organizations not in it may hold `roomOfOthers`. */
  roomByOrganization: ReadonlyMap<string, number>;
  roomOfOthers: number;
};

export type Claimed = {
  jobs: Job[];
  /** Time until the next open evaluation of the lane is due, in milliseconds; 0: some are due already; null: none is open. */
  dueInMs: number | null;
};

/** Claims due evaluations, the most urgent of each organization first. */
export async function claim(sql: Sql, options: ClaimOptions): Promise<Claimed> {
  const open = await openWork(sql, options.lane);
  const dueInMs = open.length === 0 ? null : Math.min(...open.map((one) => one.dueInMs));
  // Organizations without due work are left out, so that they take no share of the capacity.
  const organizations = open.filter((one) => one.dueInMs === 0).map(({ organizationId }) => organizationId);
  const shares = fairShares(organizations, options);
  if (shares.size === 0) return { jobs: [], dueInMs };
  const jobs = await sql.begin(async (tx) => {
    const claimed = await lockDue(tx, options.lane, shares);
    return claimed.length === 0 ? [] : await loadJobs(tx, claimed);
  });
  return { jobs, dueInMs };
}

/**
 * Returns the organizations with open work in a lane, with the time until their next is due. Costs a few index lookups for each
 * organization, however much work it has.
 */
async function openWork(sql: Sql, lane: Lane): Promise<{ organizationId: string; dueInMs: number }[]> {
  return await sql<{ organizationId: string; dueInMs: number }[]>`
    with recursive open (organization_id) as (
      (select organization_id from assay.evaluations where lane = ${lane} and state in ('pending', 'running')
        order by organization_id limit 1)
      union all
      select (select e.organization_id from assay.evaluations e
               where e.lane = ${lane} and e.state in ('pending', 'running') and e.organization_id > open.organization_id
               order by e.organization_id limit 1)
        from open where open.organization_id is not null
    )
    select organization_id as "organizationId",
           greatest(0, extract(epoch from next.due_at - now()) * 1000)::float8 as "dueInMs"
      from open cross join lateral (
        select min(first.due_at) as due_at
          from unnest(${PRIORITIES}::int2[]) as priorities (priority)
         cross join lateral (
           select e.due_at from assay.evaluations e
            where e.lane = ${lane} and e.state in ('pending', 'running') and e.organization_id = open.organization_id
              and e.priority = priorities.priority order by e.due_at limit 1) first) next
     where organization_id is not null and next.due_at is not null`;
}

/**
 * Distributes `limit` evaluations round-robin, until none is left or every organization has what it may hold. The
 * organizations with the most room come first; ties are in an order that differs from claim to claim.
 * @param random returns a number in [0, 1)
 */
export function fairShares(
  organizations: readonly string[],
  { limit, roomByOrganization, roomOfOthers }: Omit<ClaimOptions, 'lane'>,
  random: () => number = Math.random,
): Map<string, number> {
  const shares = new Map<string, number>();
  const start = Math.floor(random() * organizations.length);
  const allowed = (organization: string) => roomByOrganization.get(organization) ?? roomOfOthers;
  const rotated = [...organizations.slice(start), ...organizations.slice(0, start)];
  let waiting = rotated.sort((one, other) => allowed(other) - allowed(one));
  for (let left = limit; left > 0 && waiting.length > 0; ) {
    waiting = waiting.filter((organization) => {
      const share = shares.get(organization) ?? 0;
      if (left === 0 || share >= allowed(organization)) return false;
      shares.set(organization, share + 1);
      left -= 1;
      return true;
    });
  }
  return shares;
}

async function lockDue(
  tx: TransactionSql,
  lane: Lane,
  shares: ReadonlyMap<string, number>,
): Promise<ClaimedEvaluation[]> {
  // An array: evaluated twice, as a plan may do with a join, `skip locked` would skip the rows locked the first time. And Postgres
  // takes it for short. Of rows that a share limits it expects a tenth of the backlog, and would read all evaluations to update ten.
  return await tx<ClaimedEvaluation[]>`
    update assay.evaluations
       set state = 'running', claims = claims + 1, attempts = attempts + 1, due_at = now() + ${LEASE_MS} * interval '1 ms'
     where evaluation_id = any(array(
       select d.evaluation_id
         from unnest(${[...shares.keys()]}::uuid[], ${[...shares.values()]}::int4[]) as shares (organization_id, share)
        cross join lateral (
          select evaluation_id from assay.evaluations
           where lane = ${lane} and organization_id = shares.organization_id
             and state in ('pending', 'running') and due_at <= now()
           order by priority, due_at limit shares.share for update skip locked) d))
    returning evaluation_id::text as "evaluationId", created_at as "createdAt", baseline_created_at as "baselineCreatedAt"`;
}
