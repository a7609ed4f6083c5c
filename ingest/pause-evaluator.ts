import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { FailedFilter, Filtered } from './filter-records.ts';

/**
 * Pauses the evaluator of a filter that failed or was too slow, and notes the event. An evaluator that is paused for another
 * reason gets this one: else its filter would be applied to every batch. Not paused is one that was resumed since the filter was
 * applied, as the filter may be mended.
 *
 * Not for the transaction that stores records: it holds rows that a settlement, which holds the evaluator's row, may wait for.
 * When the process ends before, the next batch finds the filter.
 * @returns whether the evaluator was paused by this call
 * @internal Exported so that tests pause one evaluator at a chosen moment.
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

type FollowUpOptions = { sql: Sql; log: Logger; onLateFilters?(count: number): void };

/** Pauses the evaluators of filters that failed, and reports those that were left out. Does not throw: the records are stored. */
export async function followUp({ failed, late }: Filtered, options: FollowUpOptions): Promise<void> {
  const { log, onLateFilters } = options;
  for (const one of failed) await tryToPause(one, options);
  if (late.length === 0) return;
  onLateFilters?.(late.length);
  for (const [organizationId, own] of Map.groupBy(late, (one) => one.organizationId)) {
    log.warn(
      { organizationId, evaluatorIds: own.map(({ evaluatorId }) => evaluatorId) },
      'online evaluators get no records of this batch, because filters of their organization used up its time',
    );
  }
}

/** When it fails, the next batch finds the filter again. */
async function tryToPause(failed: FailedFilter, { sql, log }: FollowUpOptions): Promise<void> {
  const { evaluatorId } = failed.evaluator;
  try {
    if (!(await pauseEvaluator(sql, failed))) return;
    log.warn(
      { evaluatorId, error: describeError(failed.error) },
      'an evaluator is paused, because the filter of its online evaluator failed or was too slow',
    );
  } catch (error) {
    log.error(
      { evaluatorId, error: describeError(error) },
      'cannot pause an evaluator whose filter failed or was too slow',
    );
  }
}
