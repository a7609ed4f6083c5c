/**
 * Claiming evaluations. A claim takes a lease: a process that does not settle in time loses it, so that the work of a
 * process that died becomes due again by itself. Each organization with due work gets a share of the free capacity, so
 * that none of them, however much it has, delays the others.
 */

import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import type { EvaluationState, Lane } from '#core/scoring/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import { recordsAt } from './records.ts';
import { loadSessions } from './sessions.ts';

/**
 * Shorter, and a process that was frozen or cut off for a moment loses its work; longer, and the work of a dead process
 * waits longer. Processes renew their leases every third of this.
 */
export const LEASE_MS = 60_000;
/** Maximum size of a body. Larger ones are not evaluated, so that a claim of many evaluations fits into memory. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

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

/** An evaluation that was claimed, with the times of the requests that it is of. */
type Due = { evaluationId: string; createdAt: Date; baselineCreatedAt: Date | null };

async function lockDue(tx: TransactionSql, lane: Lane, shares: ReadonlyMap<string, number>): Promise<Due[]> {
  // An array: evaluated twice, as a plan may do with a join, `skip locked` would skip the rows locked the first time. And Postgres
  // takes it for short. Of rows that a share limits it expects a tenth of the backlog, and would read all evaluations to update ten.
  return await tx<Due[]>`
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

async function loadJobs(tx: TransactionSql, claimed: readonly Due[]): Promise<Job[]> {
  const body = (table: string, column: string) =>
    tx.unsafe(`case when octet_length(${table}.${column}) <= ${MAX_BODY_BYTES} then ${table}.${column} end`);
  const record = (table: string, expected: string) =>
    tx.unsafe(`
      case when ${table}.request_id is not null then json_build_object('source', ${table}.source, 'status', ${table}.status,
        'truncated', ${table}.truncated, 'errorCode', ${table}.error_code, 'model', ${table}.model, 'inputs', ${table}.inputs::text,
        'properties', ${table}.properties_folded, 'expected', ${expected}) end`);
  const times = claimed.map(({ createdAt }) => createdAt);
  const own = recordsAt(tx, times, { created: 'created_at', id: 'request_id' });
  const baselineTimes = claimed.map(({ baselineCreatedAt }) => baselineCreatedAt);
  const baseline = recordsAt(tx, baselineTimes, { created: 'baseline_created_at', id: 'baseline_id' });
  // Fenced, so that a run is looked up by its request, however many its experiment has. One that is not settled has a call alone.
  const runOf = (column: 'call_id' | 'request_id') => tx`(
    select r.experiment_id, r.item_id from assay.experiment_runs r
     where r.organization_id = e.organization_id and r.${tx(column)} = e.request_id offset 0)`;
  const rows = await tx<JobRow[]>`
    select e.evaluation_id::text as "evaluationId", e.claims as claim, e.attempts as attempt, e.organization_id as "organizationId",
           e.request_id as "requestId", e.created_at as "createdAt", e.session_id as "sessionId", nullif(e.probe, '') as probe, e.lane, e.members,
           e.run_id as "runId", coalesce(runs.batch, false) as "isBatch",
           coalesce(runs.state = 'budget', x.spent_nano + x.judge_spent_nano >= x.max_cost_nano, false) as "isRunOverBudget",
           coalesce(runs.state = 'cancelled', false) as "isReopened",
           json_build_object('id', v.evaluator_id, 'name', v.name, 'version', w.version, 'scoringType', v.scoring_type,
             'budgets', json_build_array(v.daily_budget_nano, o.evaluation_budget_nano)::text,
             'llmTemplate', w.llm_template, 'codeTemplate', w.code_template, 'externalConfig', w.external_config,
             'criteria', case when v.scoring_type = 'LLM-RUBRIC' then ${criteriaOf(tx)} end,
             'isDeleted', v.deleted_at is not null, 'isPaused', v.paused_reason is not null, 'resumes', v.resumes,
             'isOverBudget', v.scoring_type like 'LLM-%' and (
               coalesce(v.daily_budget_nano <= spent.by_evaluator, false)
               or coalesce(o.evaluation_budget_nano <= spent.by_organization, false))) as evaluator,
           w.secrets,
           ${record('r', 'coalesce(item.expected, r.expected)')} as request, ${body('b', 'request_text')} as "requestText",
           ${body('b', 'response_text')} as "responseText", e.baseline_id as "baselineId",
           e.is_baseline_first as "isBaselineFirst", ${record('r2', 'r2.expected')} as baseline,
           ${body('b2', 'request_text')} as "baselineRequestText", ${body('b2', 'response_text')} as "baselineResponseText"
      from assay.evaluations e
      join assay.evaluators v on v.evaluator_id = e.evaluator_id
      join assay.evaluator_versions w on w.evaluator_id = e.evaluator_id and w.version = e.version
      left join assay.evaluation_runs runs on runs.run_id = e.run_id
      left join assay.experiments x on x.experiment_id = e.run_id
      join assay.organizations o on o.organization_id = e.organization_id
      cross join lateral (
        select coalesce(sum(cost_nano) filter (where s.evaluator_id = e.evaluator_id), 0) as by_evaluator,
               coalesce(sum(cost_nano), 0) as by_organization
          from assay.evaluation_spend s
         where s.organization_id = e.organization_id and s.day = (now() at time zone 'UTC')::date) spent
      left join lateral ${own.request} r on true
      -- In an experiment, the item says what the answer should have been.
      left join lateral (
        select i.expected
          from (${runOf('call_id')} union all ${runOf('request_id')}) a
          join assay.dataset_items i on i.dataset_id = x.dataset_id and i.item_id = a.item_id and i.from_version <= x.dataset_version
                                    and (i.to_version is null or i.to_version > x.dataset_version)
         where a.experiment_id = x.experiment_id
         limit 1) item on x.experiment_id is not null
      left join lateral ${own.bodies} b on true
      left join lateral ${baseline.request} r2 on true
      left join lateral ${baseline.bodies} b2 on true
     where e.evaluation_id = any(${claimed.map(({ evaluationId }) => evaluationId)}::int8[])`;
  const ends = rows.flatMap(({ sessionId, ...end }) => (sessionId === null ? [] : [{ ...end, sessionId }]));
  const sessions = (await loadSessions(tx, ends)).values();
  return rows.map((row) => jobOf(row, row.sessionId === null ? null : sessions.next().value!));
}

/** Makes a job of its row: bodies go to their records, secrets to the evaluator. */
function jobOf(
  { secrets, requestText, responseText, baselineRequestText, baselineResponseText, ...row }: JobRow,
  session: Job['session'],
): Job {
  const baselineTexts = { requestText: baselineRequestText, responseText: baselineResponseText };
  return {
    ...row,
    session,
    evaluator: { ...row.evaluator, secrets },
    request: row.request === null ? null : { ...row.request, requestText, responseText },
    baseline: row.baseline === null ? null : { ...row.baseline, ...baselineTexts },
  };
}

/** Selects the criteria of a rubric `w`, in their order, in the versions that it names. */
function criteriaOf(tx: TransactionSql) {
  return tx`(
    select coalesce(json_agg(json_build_object('evaluatorId', c.evaluator_id, 'version', cw.version, 'name', c.name,
             'scoringType', c.scoring_type, 'template', cw.llm_template) order by place), '[]')
      from jsonb_array_elements(w.llm_template -> 'criteria') with ordinality as used (one, place)
      join assay.evaluators c on c.organization_id = e.organization_id and c.evaluator_id = (one ->> 'id')::uuid
                             and c.deleted_at is null
      join assay.evaluator_versions cw on cw.evaluator_id = c.evaluator_id and cw.version = (one ->> 'version')::int4)`;
}

type StoredRequest = Omit<NonNullable<Job['request']>, 'requestText' | 'responseText'>;
type JobRow = Omit<Job, 'evaluator' | 'request' | 'baseline' | 'session'> & {
  evaluator: Omit<Job['evaluator'], 'secrets'>;
  secrets: Uint8Array | null;
  request: StoredRequest | null;
  requestText: string | null;
  responseText: string | null;
  baseline: StoredRequest | null;
  baselineRequestText: string | null;
  baselineResponseText: string | null;
};

/** Identity of a lease. */
export type Lease = Pick<Job, 'evaluationId' | 'claim'>;

/** Renews leases, except those that were lost to another claim. */
export async function renewLeases(sql: Sql, leases: readonly Lease[]): Promise<void> {
  await updateLeases(sql, leases, { state: 'running', dueInMs: LEASE_MS, uncounted: 0 });
}

/**
 * Releases leases at once, for other processes, because this one ends; the attempt does not count. This process cannot
 * settle these evaluations any more: failures from now on are caused by its own shutdown.
 */
export async function releaseLeases(sql: Sql, leases: readonly Lease[]): Promise<void> {
  await updateLeases(sql, leases, { state: 'pending', dueInMs: 0, uncounted: 1 });
  await sql`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
}

async function updateLeases(
  sql: Sql,
  leases: readonly Lease[],
  { state, dueInMs, uncounted }: { state: EvaluationState; dueInMs: number; uncounted: number },
): Promise<void> {
  await sql`
    update assay.evaluations e
       set state = ${state}, due_at = now() + ${dueInMs} * interval '1 ms', attempts = attempts - ${uncounted}::int4
      from unnest(${leases.map((one) => one.evaluationId)}::int8[], ${leases.map((one) => one.claim)}::int4[])
        as held (evaluation_id, claim)
     where e.evaluation_id = held.evaluation_id and e.claims = held.claim and e.state = 'running'`;
}
