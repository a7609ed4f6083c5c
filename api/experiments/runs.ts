/** Makes the runs of experiments: one for each item and repetition. */
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { MAX_RUNS } from '#core/contracts/experiment.ts';
import { isImported, laneOf } from '#core/scoring/mod.ts';
import { orTakeOver } from '#platform/evaluations/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Grader } from './graders.ts';

/** As for runs over history: after evaluations of incoming requests (0) and probes (1). */
const PRIORITY = 2;

/** The items of a version, of one split or all. */
export type Items = { datasetId: string; version: number; split: string | null };

function itemsOf(tx: TransactionSql, { datasetId, version, split }: Items) {
  return tx`
    assay.dataset_items i
     where i.dataset_id = ${datasetId} and i.from_version <= ${version}::int4
       and (i.to_version is null or i.to_version > ${version}::int4) and (${split}::text is null or i.split = ${split})`;
}

/** @throws AssayError invalid_body when there are no runs, or too many */
export async function checkSize(
  tx: TransactionSql,
  { repetitions, ...items }: Items & { repetitions: number },
): Promise<void> {
  const [row] = await tx<{ count: number }[]>`select count(*)::int4 as count from ${itemsOf(tx, items)}`;
  const runs = row!.count * repetitions;
  if (runs === 0) throw new AssayError('invalid_body', 'The dataset has no items in this version and split');
  if (runs <= MAX_RUNS) return;
  throw new AssayError(
    'invalid_body',
    `An experiment can have at most ${MAX_RUNS} runs, but ${row!.count} items in ${repetitions} repetitions are ${runs}`,
  );
}

type Runs = Items & {
  experimentId: string;
  organizationId: string;
  repetitions: number;
  seed: number;
  isRecorded: boolean;
  at: Date;
};

/** Items come in one order that depends on the seed alone, the repetitions of each together. */
export async function insertRuns(tx: TransactionSql, runs: Runs): Promise<void> {
  const { experimentId, organizationId, repetitions, seed, isRecorded, at } = runs;
  await tx`
    insert into assay.experiment_runs
      (experiment_id, item_id, repetition, organization_id, position, due_at, state, request_id, error_code, error_message, finished_at)
    select ${experimentId}, i.item_id, repetition, ${organizationId},
           row_number() over (order by sha256(convert_to(${`${seed}/`} || i.item_id, 'UTF8')), i.item_id, repetition),
           ${at}::timestamptz,
           case when not ${isRecorded} then 'pending' when i.request_id is null then 'skipped' else 'completed' end,
           i.request_id,
           case when ${isRecorded} and i.request_id is null then 'not_recorded' end,
           case when ${isRecorded} and i.request_id is null then 'The log has no answer of this item' end,
           case when ${isRecorded} then ${at}::timestamptz end
      -- Callers who choose ids may have given two records the same one.
      from (select distinct on (i.item_id) i.item_id, q.request_id
              from (select * from ${itemsOf(tx, runs)}) i
              left join assay.requests q on ${isRecorded} and q.organization_id = ${organizationId}
                                        and q.request_id = i.source_request_id and q.status = 200
             order by i.item_id) i
     cross join generate_series(1, ${isRecorded ? 1 : repetitions}::int4) as repetition`;
}

type Graded = { experimentId: string; organizationId: string; graders: readonly Grader[]; at: Date };

/** Grades the answers that the evaluators' versions have not graded yet: all of an experiment, or one. */
export async function scheduleGrades(
  tx: TransactionSql,
  { experimentId, organizationId, graders, at }: Graded,
  requestId: string | null = null,
): Promise<void> {
  for (const { id, version, scoringType, adapter } of graders) {
    if (isImported(adapter)) continue;
    await tx`
      insert into assay.evaluations as e
        (organization_id, evaluator_id, version, created_at, request_id, run_id, lane, priority, due_at, scheduled_at)
      select ${organizationId}, ${id}, ${version}::int4, q.created_at, q.request_id, ${experimentId},
             ${laneOf(scoringType, adapter)}, ${PRIORITY}, ${at}::timestamptz, ${at}::timestamptz
        -- Of items that were made from one request, the recorded answer is graded once.
        from (select distinct q.created_at, q.request_id
                from assay.experiment_runs r
                join assay.requests q on q.organization_id = r.organization_id and q.request_id = r.request_id
               where r.experiment_id = ${experimentId} and r.state = 'completed'
                 and (${requestId}::text is null or r.request_id = ${requestId})) q
      ${orTakeOver(tx)}`;
  }
  if (graders.length > 0) await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
}
