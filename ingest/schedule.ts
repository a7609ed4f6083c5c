/**
 * Schedules the evaluations of records, in the transaction that stores the records: a record is stored together with its
 * evaluations, or not at all.
 */

import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { laneOf, type Probe, probesFor, samplingPoint } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';
import type { Chosen } from './filter-records.ts';
import type { OnlineEvaluator } from './online-evaluators.ts';

/**
 * Schedules the evaluations of the chosen records by evaluators of requests. They must be stored before, in the same transaction.
 * @param isAnyKnown whether some of them were stored before: an evaluator that was scheduled for such a record then, in any
 *   version, is not scheduled again
 * @returns the number of new evaluations
 */
export async function scheduleEvaluations(
  tx: TransactionSql,
  chosen: readonly Chosen[],
  isAnyKnown: boolean,
): Promise<number> {
  const due: Due[] = [];
  for (const { evaluator, passing } of chosen) {
    if (evaluator.scope !== 'request') continue;
    for (const { request } of passing) due.push(...evaluationsOf(evaluator, request));
  }
  if (due.length === 0) return 0;
  const unlessScheduled = tx`
     where not exists (
       select from assay.evaluations e
        where e.organization_id = due.organization_id and e.request_id = due.request_id
          and e.created_at = due.created_at and e.evaluator_id = due.evaluator_id)`;
  const column = <Name extends keyof Due>(name: Name) => due.map((one) => one[name]);
  const { count } = await tx`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, probe, lane, priority, due_at, scheduled_at)
    select organization_id, evaluator_id, version, created_at, request_id, probe, lane,
           case probe when '' then 0 else 1 end, now(), now()
      from unnest(${column('organizationId')}::uuid[], ${column('evaluatorId')}::uuid[], ${column('version')}::int4[],
                  ${column('createdAt')}::timestamptz[], ${column('requestId')}::text[], ${column('probe')}::text[],
                  ${column('lane')}::text[])
        as due (organization_id, evaluator_id, version, created_at, request_id, probe, lane)
     ${isAnyKnown ? unlessScheduled : tx``}
    on conflict do nothing`;
  if (count > 0) await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
  return count;
}

type Due = {
  organizationId: string;
  evaluatorId: string;
  version: number;
  createdAt: string;
  requestId: string;
  probe: Probe | '';
  lane: string;
};

function evaluationsOf(evaluator: OnlineEvaluator, request: StorableRecord['request']): Due[] {
  const evaluation: Due = {
    organizationId: evaluator.organizationId,
    evaluatorId: evaluator.evaluatorId,
    version: evaluator.version,
    createdAt: request.created_at.toISOString(),
    requestId: request.request_id,
    probe: '',
    lane: laneOf(evaluator.scoringType, evaluator.adapter),
  };
  const probe = probeOf(evaluator, request.request_id);
  return probe === null ? [evaluation] : [evaluation, { ...evaluation, probe }];
}

/** Returns the probe of a sampled request, if it is in the share that gets one; the request's id decides which. */
function probeOf({ evaluatorId, scoringType, probeRate }: OnlineEvaluator, requestId: string): Probe | null {
  const probes = probesFor(scoringType);
  const point = samplingPoint(`${evaluatorId}/probe`, requestId);
  if (probes.length === 0 || point >= probeRate) return null;
  return probes[Math.floor((point / probeRate) * probes.length)]!;
}
