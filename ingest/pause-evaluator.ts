import type { Sql } from '#platform/postgres/mod.ts';
import type { FailedFilter } from './filter-records.ts';

/**
 * Pauses the evaluator of a filter that failed or was too slow, and notes the event. An evaluator that is paused for another
 * reason gets this one: else its filter would be applied to every batch. Not paused is one that was resumed since the filter was
 * applied, as the filter may be mended.
 *
 * Not for the transaction that stores records: it holds rows that a settlement, which holds the evaluator's row, may wait for.
 * When the process ends before, the next batch finds the filter.
 * @returns whether the evaluator was paused by this call
 */
export async function pauseEvaluator(sql: Sql, { evaluator, message }: FailedFilter): Promise<boolean> {
  const { evaluatorId, resumes } = evaluator;
  const { count } = await sql`
    with paused as (
      update assay.evaluators set paused_reason = 'filter', paused_message = ${message}
       where evaluator_id = ${evaluatorId} and resumes = ${resumes} and deleted_at is null
         and paused_reason is distinct from 'filter'
      returning organization_id, evaluator_id, name, paused_reason, paused_message
    )
    insert into assay.changes (organization_id, kind, details)
    select organization_id, 'event', jsonb_build_array(jsonb_build_object('type', 'evaluator.paused',
             'evaluator_id', evaluator_id::text, 'name', name, 'reason', paused_reason, 'message', paused_message))
      from paused`;
  return count > 0;
}
