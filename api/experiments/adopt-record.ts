/** Takes a record of the log as the answer of an experiment's run. */
import { AssayError } from '#core/contracts/errors.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findKey, unknownRequest } from '../requests/mod.ts';
import type { Outcome, OutputRun } from './external-run.ts';

/**
 * Counts the cost of a record for a run's experiment, and returns the outcome that it is for the run.
 * @throws AssayError conflict when it is the answer of another run; not_found
 */
export async function adoptRecord(
  tx: TransactionSql,
  organizationId: string,
  { experiment_id: experimentId, item_id: itemId }: Pick<OutputRun, 'experiment_id' | 'item_id'>,
  requestId: string,
): Promise<Outcome> {
  // One at a time, so that two runs cannot take one answer.
  await tx`select from assay.experiments where experiment_id = ${experimentId} for no key update`;
  const [other] = await tx`
    select 1 from assay.experiment_runs
     where organization_id = ${organizationId} and request_id = ${requestId} and experiment_id = ${experimentId}`;
  if (other !== undefined)
    throw new AssayError(
      'conflict',
      `The request ${requestId} is the answer of another run of this experiment`,
    );
  const key = await findKey(tx, organizationId, requestId);
  const [record] = await tx<{ status: number; cost_nano: string | null }[]>`
    select status, cost_nano from assay.requests
     where organization_id = ${organizationId} and created_at = ${key?.created_at ?? null} and request_id = ${requestId}`;
  // Erased since it was looked for.
  if (record === undefined) throw unknownRequest(requestId);
  const { status, cost_nano } = record;
  await tx`
    with counted as (
      insert into assay.experiment_calls
        (organization_id, request_id, experiment_id, item_id, cost_nano, is_recorded, begun_at)
      values (${organizationId}, ${requestId}, ${experimentId}, ${itemId}, ${cost_nano ?? '0'}::int8, true, now())
      on conflict do nothing returning cost_nano)
    update assay.experiments set spent_nano = spent_nano + counted.cost_nano
      from counted where experiment_id = ${experimentId}`;
  return status >= 200 && status < 300
    ? { state: 'completed', requestId }
    : { state: 'error', errorCode: `status_${status}`, errorMessage: `The request ${requestId} failed` };
}
