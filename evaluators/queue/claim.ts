/**
 * Taking evaluations off the table. A claim is a lease: who does not settle in time loses it, so that the work of a
 * process that died comes back by itself. Each organization with work gets its share of what is free, so that none of
 * them, however much it has, keeps the others waiting.
 */

import type { EvaluationState, Lane } from '#core/scoring/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './jobs.ts';

/** Longer than a process may be frozen or cut off and still be believed; the process renews it long before. */
export const LEASE_MS = 60_000;
/** Of one body: what is larger is refused, so that a claim of many stays within memory. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** As requests come, probes, history. */
const PRIORITIES = [0, 1, 2];

export type ClaimOptions = {
  lane: Lane;
  /** Evaluations at most. */
  limit: number;
  /** How many more an organization may have at a time; those that are not in it may have `limitOfOne`. */
  room: ReadonlyMap<string, number>;
  limitOfOne: number;
};

/** Claims what is due, the most urgent of each organization first. Empty when nothing is. */
export async function claim(sql: Sql, options: ClaimOptions): Promise<Job[]> {
  const organizations = await organizationsWithWork(sql, options.lane);
  const shares = shareOut(organizations, options);
  if (shares.size === 0) return [];
  return await sql.begin(async (tx) => {
    const claimed = await take(tx, options.lane, shares);
    return claimed.length === 0 ? [] : await load(tx, claimed);
  });
}

/**
 * Who has due work in a lane: some steps in the index for each, however much it is. Who has none is left out, so that it
 * takes no share of what is free.
 */
async function organizationsWithWork(sql: Sql, lane: Lane): Promise<string[]> {
  const rows = await sql<{ organization_id: string }[]>`
    with recursive open (organization_id) as (
      (select organization_id from assay.evaluations where lane = ${lane} and state in ('pending', 'running')
        order by organization_id limit 1)
      union all
      select (select e.organization_id from assay.evaluations e
               where e.lane = ${lane} and e.state in ('pending', 'running') and e.organization_id > open.organization_id
               order by e.organization_id limit 1)
        from open where open.organization_id is not null
    )
    select organization_id from open
     where organization_id is not null and exists (
       select from unnest(${PRIORITIES}::int2[]) as priorities (priority)
        cross join lateral (
          select from assay.evaluations e
           where e.lane = ${lane} and e.state in ('pending', 'running') and e.organization_id = open.organization_id
             and e.priority = priorities.priority and e.due_at <= now() limit 1) due)`;
  return rows.map((row) => row.organization_id);
}

/**
 * Shares `limit` out: one to each in turn, until nothing is left or all have what they may. The turn begins with the
 * organizations that hold the least; equals come in an order that differs from claim to claim.
 * @param random from 0 up to and without 1
 */
export function shareOut(
  organizations: readonly string[],
  { limit, room, limitOfOne }: Omit<ClaimOptions, 'lane'>,
  random: () => number = Math.random,
): Map<string, number> {
  const shares = new Map<string, number>();
  const start = Math.floor(random() * organizations.length);
  const allowed = (organization: string) => room.get(organization) ?? limitOfOne;
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

async function take(tx: TransactionSql, lane: Lane, shares: ReadonlyMap<string, number>): Promise<string[]> {
  // Materialized: looked at twice, as a plan may, `skip locked` would pass over what the first look has locked.
  const rows = await tx<{ evaluation_id: string }[]>`
    with due as materialized (
      select d.evaluation_id
        from unnest(${[...shares.keys()]}::uuid[], ${[...shares.values()]}::int4[]) as shares (organization_id, share)
       cross join lateral (
         select evaluation_id from assay.evaluations
          where lane = ${lane} and organization_id = shares.organization_id
            and state in ('pending', 'running') and due_at <= now()
          order by priority, due_at limit shares.share for update skip locked) d
    )
    update assay.evaluations e
       set state = 'running', claims = claims + 1, attempts = attempts + 1, due_at = now() + ${LEASE_MS} * interval '1 ms'
      from due
     where e.evaluation_id = due.evaluation_id
    returning e.evaluation_id`;
  return rows.map((row) => row.evaluation_id);
}

async function load(tx: TransactionSql, evaluationIds: readonly string[]): Promise<Job[]> {
  const body = (column: string) =>
    tx.unsafe(`case when octet_length(b.${column}) <= ${MAX_BODY_BYTES} then b.${column} end`);
  const rows = await tx<LoadedRow[]>`
    select e.evaluation_id::text as "evaluationId", e.claims as claim, e.attempts as attempt, e.organization_id as "organizationId",
           e.request_id as "requestId", e.created_at as "createdAt", nullif(e.probe, '') as probe, e.lane,
           e.run_id as "runId", coalesce(runs.batch, false) as "isBatch",
           json_build_object('id', v.evaluator_id, 'name', v.name, 'version', w.version, 'scoringType', v.scoring_type,
             'llmTemplate', w.llm_template, 'codeTemplate', w.code_template, 'externalConfig', w.external_config,
             'isDeleted', v.deleted_at is not null, 'isPaused', v.paused_reason is not null, 'resumes', v.resumes,
             'isOverBudget', v.scoring_type like 'LLM-%' and (
               coalesce(v.daily_budget_nano <= spent.by_evaluator, false)
               or coalesce(o.evaluation_budget_nano <= spent.by_organization, false))) as evaluator,
           w.secrets,
           case when r.request_id is not null then json_build_object('source', r.source, 'status', r.status,
             'truncated', r.truncated, 'errorCode', r.error_code, 'model', r.model, 'inputs', r.inputs,
             'properties', r.properties_folded) end as request,
           ${body('request_text')} as "requestText", ${body('response_text')} as "responseText"
      from assay.evaluations e
      join assay.evaluators v on v.evaluator_id = e.evaluator_id
      join assay.evaluator_versions w on w.evaluator_id = e.evaluator_id and w.version = e.version
      left join assay.evaluation_runs runs on runs.run_id = e.run_id
      join assay.organizations o on o.organization_id = e.organization_id
      cross join lateral (
        select coalesce(sum(cost_nano) filter (where s.evaluator_id = e.evaluator_id), 0) as by_evaluator,
               coalesce(sum(cost_nano), 0) as by_organization
          from assay.evaluation_spend s
         where s.organization_id = e.organization_id and s.day = (now() at time zone 'UTC')::date) spent
      left join assay.requests r
        on r.organization_id = e.organization_id and r.created_at = e.created_at and r.request_id = e.request_id
      left join assay.request_bodies b
        on b.organization_id = e.organization_id and b.created_at = e.created_at and b.request_id = e.request_id
     where e.evaluation_id = any(${evaluationIds}::int8[])`;
  return rows.map(({ secrets, requestText, responseText, ...row }) => ({
    ...row,
    evaluator: { ...row.evaluator, secrets },
    request: row.request === null ? null : { ...row.request, requestText, responseText },
  }));
}

type LoadedRow = Omit<Job, 'evaluator' | 'request'> & {
  evaluator: Omit<Job['evaluator'], 'secrets'>;
  secrets: Uint8Array | null;
  request: Omit<NonNullable<Job['request']>, 'requestText' | 'responseText'> | null;
  requestText: string | null;
  responseText: string | null;
};

/** What tells a claim. */
export type Claim = Pick<Job, 'evaluationId' | 'claim'>;

/** Keeps claims for another lease, those that nobody has taken over. */
export async function renew(sql: Sql, claims: readonly Claim[]): Promise<void> {
  await set(sql, claims, { state: 'running', dueInMs: LEASE_MS, uncounted: 0 });
}

/**
 * Gives claims back at once, for another process: this one ends, which counts as no attempt. It cannot settle them any
 * more: what comes out from now on comes of what it closes.
 */
export async function giveBack(sql: Sql, claims: readonly Claim[]): Promise<void> {
  await set(sql, claims, { state: 'pending', dueInMs: 0, uncounted: 1 });
}

async function set(
  sql: Sql,
  claims: readonly Claim[],
  { state, dueInMs, uncounted }: { state: EvaluationState; dueInMs: number; uncounted: number },
): Promise<void> {
  await sql`
    update assay.evaluations e
       set state = ${state}, due_at = now() + ${dueInMs} * interval '1 ms', attempts = attempts - ${uncounted}::int4
      from unnest(${claims.map((one) => one.evaluationId)}::int8[], ${claims.map((one) => one.claim)}::int4[])
        as held (evaluation_id, claim)
     where e.evaluation_id = held.evaluation_id and e.claims = held.claim and e.state = 'running'`;
}
