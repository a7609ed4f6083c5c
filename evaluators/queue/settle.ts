/**
 * Settles an evaluation: writes its next state, score, spending and its changes for the feed in one statement. A process that
 * lost the lease changes only the spending: that money is spent, whichever process settles. Settling again, because the
 * response was lost, adds nothing: a judge's calls are known by their ids. Their cost counts towards budgets at once, as
 * reported here, until ingest replaces it by the cost in their records.
 */

import { storableJson } from '#core/json/mod.ts';
import type { JudgeUse } from '#core/scoring/mod.ts';
import { holdErasuresBriefly, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import { setAside } from './set-aside.ts';
import { settleCriteria } from './settle-criteria.ts';
import type { NextState } from './transition.ts';

/**
 * Writes the next state of an evaluation, and the spending of the attempt.
 * @returns whether this process still had the lease, so that the next state was written
 */
export async function settle(sql: Sql, job: Job, next: NextState, use: JudgeUse | null): Promise<boolean> {
  if (next.criteria.length > 0) {
    return await sql.begin(async (tx) => {
      // Until the criteria are committed no erasure begins, which could miss their evaluations.
      await holdErasuresBriefly(tx, job.organizationId);
      const isSettled = await write(tx, job, next, use);
      if (isSettled) await settleCriteria(tx, job, next);
      return isSettled;
    });
  }
  if (isFinal(next)) return await write(sql, job, next, use);
  return await sql.begin(async (tx) => {
    const waiting = await waitingState(tx, job, next);
    const isSettled = await write(tx, job, waiting, use);
    if (isSettled) await setAside(tx, job, waiting);
    return isSettled;
  });
}

/**
 * Adapts a state that is not final to the evaluator and the run as they are now, not as they were at the claim. Both rows
 * stay locked until the state is written, so that a later resume or cancel finds this evaluation.
 */
async function waitingState(
  tx: TransactionSql,
  { evaluator, runId, isReopened }: Job,
  next: NextState,
): Promise<NextState> {
  // So that a change of the organization's budget finds what waits for it; other states need not hold up such a change.
  const budgetLock = next.errorCode === 'budget_exhausted' ? tx`for share of o` : tx``;
  const [now] = await tx<{ isPaused: boolean; resumes: number; budgets: string }[]>`
    select paused_reason is not null as "isPaused", resumes,
           json_build_array(v.daily_budget_nano, o.evaluation_budget_nano)::text as budgets
      from assay.evaluators v join assay.organizations o using (organization_id)
     where evaluator_id = ${evaluator.id} for no key update of v ${budgetLock}`;
  const [run] = await tx<{ state: string }[]>`
    select state from assay.evaluation_runs where run_id = ${runId} for no key update`;
  if (run?.state === 'cancelled' && !isReopened) return { ...next, state: 'cancelled', pause: null };
  // The evaluator was resumed since the claim, so the cause of this failure may be fixed: it is not paused again.
  const pause = now!.resumes === evaluator.resumes ? next.pause : null;
  const isPaused = pause !== null || now!.isPaused || run?.state === 'paused';
  // A budget that was changed since the claim may suffice; the change has not found this evaluation among those that wait.
  const isChanged = next.errorCode === 'budget_exhausted' && now!.budgets !== evaluator.budgets;
  return { ...next, pause, state: isPaused ? 'paused' : 'pending', ...(isChanged && { dueInMs: 0 }) };
}

async function write(
  sql: Sql | TransactionSql,
  job: Job,
  next: NextState,
  use: JudgeUse | null,
): Promise<boolean> {
  const { evaluator } = job;
  const requestIds = [...new Set(use?.requestIds)];
  const isScore =
    next.state === 'completed' && next.score !== null && job.probe === null && job.baselineId === '';
  const costNano = use?.costNano ?? 0;
  const members = next.members === null ? null : storableJson(next.members).text;
  const [row] = await sql<{ settled: boolean }[]>`
    with own as (
      select evaluation_id, state = 'running' and claims = ${job.claim} as is_ours,
             judge_request_ids @> ${requestIds}::text[] and ${requestIds.length > 0} as is_counted
        from assay.evaluations where evaluation_id = ${job.evaluationId} for update
    ), settled as (
      update assay.evaluations e set
        state = case when is_ours then ${next.state} else e.state end,
        due_at = case when is_ours then now() + ${next.dueInMs}::float8 * interval '1 ms' else e.due_at end,
        attempts = case when is_ours and ${next.isUncounted} then e.attempts - 1 else e.attempts end,
        score = case when is_ours then ${next.score}::float8 else e.score end,
        label = case when is_ours then ${next.label} else e.label end,
        reasoning = case when is_ours then ${next.reasoning} else e.reasoning end,
        traces = case when is_ours then ${next.traces} else e.traces end,
        flags = case when is_ours then ${next.flags}::text[] else e.flags end,
        warnings = case when is_ours then ${next.warnings}::text[] else e.warnings end,
        members = case when is_ours then coalesce(${members}::text::jsonb, e.members) else e.members end,
        error_code = case when is_ours then ${next.errorCode} else e.error_code end,
        error_message = case when is_ours then ${next.errorMessage} else e.error_message end,
        finished_at = case when is_ours and ${isFinal(next)} then now() else e.finished_at end,
        judge_calls = e.judge_calls + case when is_counted then 0 else ${use?.calls ?? 0} end,
        judge_request_ids = e.judge_request_ids || case when is_counted then '{}' else ${requestIds}::text[] end,
        judge_model = coalesce(${use?.model ?? null}, e.judge_model),
        prompt_tokens = ${added('prompt_tokens', use?.promptTokens)},
        completion_tokens = ${added('completion_tokens', use?.completionTokens)},
        cost_nano = ${added('cost_nano', use?.costNano)},
        judge_latency_ms = ${added('judge_latency_ms', use === null ? null : Math.round(use.latencyMs))}
      from own where e.evaluation_id = own.evaluation_id
      returning is_ours
    ), scored as (
      insert into assay.request_scores as s
        (organization_id, created_at, request_id, key, value, updated_at, evaluator_id, evaluator_version)
      select r.organization_id, r.created_at, r.request_id, v.score_key, ${next.score}::float8, now(), v.evaluator_id, ${evaluator.version}::int4
        from settled
        join assay.evaluators v on v.evaluator_id = ${evaluator.id}
        join assay.requests r on r.organization_id = ${job.organizationId} and r.created_at = ${job.createdAt}
                             and r.request_id = ${job.requestId}
       where is_ours and ${isScore}
      on conflict (organization_id, created_at, request_id, key) do update
        set value = excluded.value, updated_at = excluded.updated_at,
            evaluator_id = excluded.evaluator_id, evaluator_version = excluded.evaluator_version
        where s.evaluator_id is distinct from excluded.evaluator_id or s.evaluator_version <= excluded.evaluator_version
      returning s.key, s.value
    ), noted as (
      insert into assay.evaluation_attempts
        (evaluation_id, claim, organization_id, ended_at, error_code, error_message)
      select ${job.evaluationId}::int8, ${job.claim}::int4, ${job.organizationId}::uuid, now(), ${next.errorCode}::text,
             ${next.errorMessage}::text
        from settled where is_ours and ${isFailure(next)}
      on conflict do nothing
    ), ${charges(sql, job, costNano, requestIds)}, ${changes(sql, job, next)}, paused as (
      -- A pause because of a filter stays: without it ingest would apply the filter again.
      update assay.evaluators set paused_reason = ${next.pause}, paused_message = ${next.errorMessage}
       where evaluator_id = ${evaluator.id} and paused_reason is distinct from 'filter' and ${next.pause}::text is not null
         and exists (select from settled where is_ours)
    )
    select coalesce(bool_or(is_ours), false) as settled from settled`;
  return row!.settled;

  function added(column: string, value: number | null | undefined) {
    const old = sql(`e.${column}`);
    return sql`case when is_counted or ${value ?? null}::int8 is null then ${old}
                    else coalesce(${old}, 0) + ${value ?? null}::int8 end`;
  }
}

/** Writes what an attempt cost: expressions of the statement above, after `own`. */
function charges(sql: Sql | TransactionSql, job: Job, costNano: number, requestIds: readonly string[]) {
  return sql`
    charged as (
      update assay.evaluation_runs r
         set spent_nano = spent_nano + ${costNano}::int8,
             state = case when spent_nano + ${costNano}::int8 >= max_cost_nano and state <> 'cancelled' then 'budget' else state end
        from own
       where r.run_id = ${job.runId}::uuid and r.max_cost_nano is not null and not is_counted and ${costNano > 0}
    ), charged_experiment as (
      update assay.experiments x set judge_spent_nano = x.judge_spent_nano + ${costNano}::int8
        from own where x.experiment_id = ${job.runId}::uuid and not is_counted and ${costNano > 0}
    ), spent as (
      -- Only the sum over an attempt's calls is known: it is split evenly until their records give the cost of each.
      insert into assay.judge_calls (organization_id, request_id, evaluator_id, day, cost_nano, is_recorded)
      select ${job.organizationId}::uuid, request_id, ${job.evaluator.id}::uuid, (now() at time zone 'UTC')::date, cost_nano, false
        from unnest(${requestIds}::text[], ${splitEvenly(costNano, requestIds.length)}::int8[])
          as made (request_id, cost_nano)
       order by request_id
      on conflict do nothing)`;
}

/** Writes the changes for the feed: expressions of the statement above, after `settled` and `scored`. */
function changes(sql: Sql | TransactionSql, job: Job, next: NextState) {
  const { evaluator } = job;
  return sql`
    changed as (
      insert into assay.changes (organization_id, kind, created_ats, request_ids, details)
      select ${job.organizationId}::uuid, kind, array[${job.createdAt}::timestamptz], array[${job.requestId}::text],
             jsonb_build_array(detail)
        from (select 'evaluation', jsonb_build_object('evaluation_id', ${job.evaluationId}::text,
                'evaluator_id', ${evaluator.id}::text, 'state', ${next.state}::text, 'score', ${next.score}::float8,
                'is_probe', ${job.probe !== null}::bool)
                from settled where is_ours and ${isFinal(next)}
              union all
              select 'score', jsonb_build_object('key', key, 'value', value) from scored) made (kind, detail)
    ), told as (
      -- Once, however many evaluations fail for the same reason: the evaluator's row is locked, and has its state from before.
      insert into assay.changes (organization_id, kind, details)
      select organization_id, 'event', jsonb_build_array(jsonb_build_object('type', 'evaluator.paused',
               'evaluator_id', evaluator_id::text, 'name', name, 'reason', ${next.pause}::text,
               'message', ${next.errorMessage}::text))
        from assay.evaluators
       where evaluator_id = ${evaluator.id} and paused_reason is null and ${next.pause}::text is not null
         and exists (select from settled where is_ours)
    )`;
}

/** Splits a total into whole parts that differ by at most one. */
function splitEvenly(total: number, parts: number): number[] {
  return Array.from(
    { length: parts },
    (_, index) => Math.floor(total / parts) + (index < total % parts ? 1 : 0),
  );
}

/** Returns whether an attempt failed, for the history: nothing was tried at one that does not count. */
function isFailure({ state, errorCode, isUncounted }: NextState): boolean {
  return errorCode !== null && state !== 'skipped' && !isUncounted;
}

function isFinal({ state }: NextState): boolean {
  return state !== 'pending' && state !== 'paused';
}
