/** Charges the costs of judge calls, as recorded, to the budgets of their evaluators. */
import { foldName } from '#core/contracts/storable-text.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { EVALUATION_PROPERTY } from '#platform/secrets/mod.ts';
import type { StorableRecord } from './build-record.ts';
import type { RequestRow } from './request-row.ts';

const FOLDED_PROPERTY = foldName(EVALUATION_PROPERTY);
/** The id of an evaluation. A call of a trial has another id, and no budget. */
const EVALUATION_ID = /^\d{1,18}$/;

/**
 * Charges the judge calls among these records, once for each request id. A record replaces the cost that an evaluators
 * process has reported for the same call: only the record shows that the answer came from the cache, or has the tokens that
 * the provider did not count. Adds nothing for records that were charged before.
 */
export async function countJudgeCalls(tx: TransactionSql, records: readonly StorableRecord[]): Promise<void> {
  const calls = records.flatMap(({ request }) => {
    const evaluationId = judgedEvaluation(request);
    return evaluationId === null ? [] : [{ ...request, evaluationId }];
  });
  if (calls.length === 0) return;
  // One transaction at a time: the statement below first updates the spending of the calls that it replaces and then that of
  // the calls that it adds, each in order but not together, so two transactions could deadlock.
  await tx`select pg_advisory_xact_lock(hashtext('assay.judge_calls'))`;
  await tx`
    insert into assay.judge_calls as c (organization_id, request_id, evaluator_id, day, cost_nano, is_recorded)
    select distinct on (e.organization_id, made.request_id)
           e.organization_id, made.request_id, e.evaluator_id, (made.created_at at time zone 'UTC')::date,
           coalesce(made.cost_nano, 0), true
      from unnest(${calls.map((one) => one.organization_id)}::uuid[], ${calls.map((one) => one.request_id)}::text[],
                  ${calls.map((one) => one.evaluationId)}::int8[],
                  ${calls.map((one) => one.created_at.toISOString())}::timestamptz[],
                  ${calls.map((one) => one.cost_nano)}::int8[])
        as made (organization_id, request_id, evaluation_id, created_at, cost_nano)
      join assay.evaluations e on e.evaluation_id = made.evaluation_id and e.organization_id = made.organization_id
     order by e.organization_id, made.request_id
    on conflict (organization_id, request_id) do update set cost_nano = excluded.cost_nano, is_recorded = true
      where not c.is_recorded`;
}

/** Returns the evaluation that a judge's call was made for; null for any other call. */
export function judgedEvaluation({
  source,
  properties_folded,
}: Pick<RequestRow, 'source' | 'properties_folded'>): string | null {
  if (source !== 'evaluator') return null;
  const id = (JSON.parse(properties_folded) as Record<string, string>)[FOLDED_PROPERTY];
  return id !== undefined && EVALUATION_ID.test(id) ? id : null;
}
