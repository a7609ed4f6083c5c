/**
 * Settles the criteria of a rubric, in the transaction of its own evaluation: an evaluation of each criterion's evaluator, which
 * begins at its end. From then on they are like any others: they can be retried, alone, by their own judge.
 */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import type { NextState } from './transition.ts';

/** Writes what is not there yet: a criterion whose version has evaluated this request before keeps that evaluation. */
export async function settleCriteria(tx: TransactionSql, job: Job, next: NextState): Promise<void> {
  const rows = next.criteria.map(({ evaluatorId, version, outcome }) => {
    const isScored = outcome.state === 'completed';
    return {
      evaluatorId,
      version,
      state: outcome.state,
      score: isScored ? outcome.score : null,
      label: isScored ? outcome.label : null,
      reasoning: isScored ? outcome.reasoning : null,
      code: isScored ? null : outcome.code,
      message: isScored ? null : outcome.message,
    };
  });
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
  await tx`
    with settled as (
      insert into assay.evaluations
        (organization_id, evaluator_id, version, created_at, request_id, session_id, run_id, rubric_id, lane, priority, state, due_at,
         attempts, score, label, reasoning, flags, warnings, error_code, error_message, scheduled_at, finished_at)
      select e.organization_id, c.evaluator_id, c.version, e.created_at, e.request_id, e.session_id, e.run_id, e.evaluation_id, e.lane,
             e.priority, c.state, now(), 1, c.score, c.label, c.reasoning, ${next.flags}::text[], ${next.warnings}::text[],
             c.code, c.message, e.scheduled_at, now()
        from assay.evaluations e
       cross join unnest(${column('evaluatorId')}::uuid[], ${column('version')}::int4[], ${column('state')}::text[],
                         ${column('score')}::float8[], ${column('label')}::text[], ${column('reasoning')}::text[],
                         ${column('code')}::text[], ${column('message')}::text[])
               as c (evaluator_id, version, state, score, label, reasoning, code, message)
       where e.evaluation_id = ${job.evaluationId}
      on conflict do nothing
      returning *
    ), scored as (
      insert into assay.request_scores as s
        (organization_id, created_at, request_id, key, value, updated_at, evaluator_id, evaluator_version)
      select r.organization_id, r.created_at, r.request_id, v.score_key, settled.score, now(), v.evaluator_id, settled.version
        from settled
        join assay.evaluators v on v.evaluator_id = settled.evaluator_id
        join assay.requests r on r.organization_id = settled.organization_id and r.created_at = settled.created_at
                             and r.request_id = settled.request_id
       where settled.state = 'completed'
      on conflict (organization_id, created_at, request_id, key) do update
        set value = excluded.value, updated_at = excluded.updated_at,
            evaluator_id = excluded.evaluator_id, evaluator_version = excluded.evaluator_version
        where s.evaluator_id is distinct from excluded.evaluator_id or s.evaluator_version <= excluded.evaluator_version
      returning s.key, s.value
    )
    insert into assay.changes (organization_id, kind, created_ats, request_ids, details)
    select ${job.organizationId}::uuid, kind, array[${job.createdAt}::timestamptz], array[${job.requestId}::text],
           jsonb_build_array(detail)
      from (select 'evaluation', jsonb_build_object('evaluation_id', evaluation_id::text, 'evaluator_id', evaluator_id::text,
              'state', state, 'score', score, 'is_probe', false) from settled
            union all
            select 'score', jsonb_build_object('key', key, 'value', value) from scored) made (kind, detail)`;
}
