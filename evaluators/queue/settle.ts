/**
 * Writes down what became of an evaluation: state, score and spending in one statement. Who lost the claim meanwhile
 * changes nothing but what was spent: that is spent, whoever settles. Settling again, because the answer was lost, adds
 * nothing: a judge's calls are known by their ids. What they cost counts towards budgets at once, as reported here, until
 * ingest replaces it by what their records say.
 */

import type { JudgeUse } from '#core/scoring/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Fate } from './fate.ts';
import type { Job } from './jobs.ts';

/** @returns whether the claim was still ours, and this its outcome */
export async function settle(sql: Sql, job: Job, fate: Fate, use: JudgeUse | null): Promise<boolean> {
  if (isFinal(fate)) return await write(sql, job, fate, use);
  return await sql.begin(async (tx) => await write(tx, job, await whereItWaits(tx, job, fate), use));
}

/**
 * What is not over waits for its evaluator and its run as they are now, not as they were when it was claimed. Both are
 * held until this is written down, so that whoever resumes or cancels them next finds it.
 */
async function whereItWaits(tx: TransactionSql, { evaluator, runId }: Job, fate: Fate): Promise<Fate> {
  const [now] = await tx<{ isPaused: boolean; resumes: number }[]>`
    select paused_reason is not null as "isPaused", resumes
      from assay.evaluators where evaluator_id = ${evaluator.id} for no key update`;
  const [run] = await tx<{ state: string }[]>`
    select state from assay.evaluation_runs where run_id = ${runId} for share`;
  if (run?.state === 'cancelled') return { ...fate, state: 'cancelled', pause: null };
  // Somebody has mended what made it fail, or will have: it is not paused for what was before.
  const pause = now!.resumes === evaluator.resumes ? fate.pause : null;
  const isParked = pause !== null || now!.isPaused || run?.state === 'paused';
  return { ...fate, pause, state: isParked ? 'paused' : 'pending' };
}

async function write(
  sql: Sql | TransactionSql,
  job: Job,
  fate: Fate,
  use: JudgeUse | null,
): Promise<boolean> {
  const { evaluator } = job;
  const requestIds = [...new Set(use?.requestIds)];
  const isScore = fate.state === 'completed' && job.probe === null;
  const [row] = await sql<{ settled: boolean }[]>`
    with own as (
      select evaluation_id, state = 'running' and claims = ${job.claim} as is_ours,
             judge_request_ids @> ${requestIds}::text[] and ${requestIds.length > 0} as is_told
        from assay.evaluations where evaluation_id = ${job.evaluationId} for update
    ), settled as (
      update assay.evaluations e set
        state = case when is_ours then ${fate.state} else e.state end,
        due_at = case when is_ours then now() + ${fate.dueInMs}::float8 * interval '1 ms' else e.due_at end,
        attempts = case when is_ours and ${fate.isUncounted} then e.attempts - 1 else e.attempts end,
        score = case when is_ours then ${fate.score}::float8 else e.score end,
        label = case when is_ours then ${fate.label} else e.label end,
        reasoning = case when is_ours then ${fate.reasoning} else e.reasoning end,
        traces = case when is_ours then ${fate.traces} else e.traces end,
        flags = case when is_ours then ${fate.flags}::text[] else e.flags end,
        warnings = case when is_ours then ${fate.warnings}::text[] else e.warnings end,
        error_code = case when is_ours then ${fate.errorCode} else e.error_code end,
        error_message = case when is_ours then ${fate.errorMessage} else e.error_message end,
        finished_at = case when is_ours and ${isFinal(fate)} then now() else e.finished_at end,
        judge_calls = e.judge_calls + case when is_told then 0 else ${use?.calls ?? 0} end,
        judge_request_ids = e.judge_request_ids || case when is_told then '{}' else ${requestIds}::text[] end,
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
      select r.organization_id, r.created_at, r.request_id, v.score_key, ${fate.score}::float8, now(), v.evaluator_id, ${evaluator.version}::int4
        from settled
        join assay.evaluators v on v.evaluator_id = ${evaluator.id}
        join assay.requests r on r.organization_id = ${job.organizationId} and r.created_at = ${job.createdAt}
                             and r.request_id = ${job.requestId}
       where is_ours and ${isScore}
      on conflict (organization_id, created_at, request_id, key) do update
        set value = excluded.value, updated_at = excluded.updated_at,
            evaluator_id = excluded.evaluator_id, evaluator_version = excluded.evaluator_version
        where s.evaluator_id is distinct from excluded.evaluator_id or s.evaluator_version <= excluded.evaluator_version
    ), spent as (
      -- An attempt knows the sum of its calls: it is split among them until their records tell what each has cost.
      insert into assay.judge_calls (organization_id, request_id, evaluator_id, day, cost_nano, is_recorded)
      select ${job.organizationId}::uuid, request_id, ${evaluator.id}::uuid, (now() at time zone 'UTC')::date, cost_nano, false
        from unnest(${requestIds}::text[], ${splitEvenly(use?.costNano ?? 0, requestIds.length)}::int8[])
          as made (request_id, cost_nano)
       order by request_id
      on conflict do nothing
    ), paused as (
      update assay.evaluators set paused_reason = ${fate.pause}, paused_message = ${fate.errorMessage}
       where evaluator_id = ${evaluator.id} and ${fate.pause}::text is not null and exists (select from settled where is_ours)
    )
    select coalesce(bool_or(is_ours), false) as settled from settled`;
  return row!.settled;

  function added(column: string, value: number | null | undefined) {
    const old = sql(`e.${column}`);
    return sql`case when is_told or ${value ?? null}::int8 is null then ${old}
                    else coalesce(${old}, 0) + ${value ?? null}::int8 end`;
  }
}

/** Whole parts that sum up to the total and differ by one at most. */
function splitEvenly(total: number, parts: number): number[] {
  return Array.from(
    { length: parts },
    (_, index) => Math.floor(total / parts) + (index < total % parts ? 1 : 0),
  );
}

function isFinal({ state }: Fate): boolean {
  return state !== 'pending' && state !== 'paused';
}
