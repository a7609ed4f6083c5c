import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import { recordsAt } from './records.ts';
import { loadSessions } from './sessions.ts';

/** Maximum size of a body. Larger ones are not evaluated, so that a claim of many evaluations fits into memory. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** An evaluation that was claimed, with the times of the requests that it is of. */
export type ClaimedEvaluation = { evaluationId: string; createdAt: Date; baselineCreatedAt: Date | null };

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

/** Loads claimed evaluations with all that scoring them takes. */
export async function loadJobs(tx: TransactionSql, claimed: readonly ClaimedEvaluation[]): Promise<Job[]> {
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
