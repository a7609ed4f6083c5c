/** Effects of a stored answer of an experiment: its cost is counted, and evaluations by the experiment's evaluators are due. */
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { isImported, laneOf, type ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** As for runs over history: after evaluations of incoming requests (0) and probes (1). */
const PRIORITY = 2;

type Call = StorableRecord['request'] & { experiment_id: string };

/**
 * Counts the costs of the calls among these records that experiments made, once for each, and schedules their evaluations. A
 * record replaces the estimate that was noted before its call. The transaction has stored the records.
 */
export async function countExperiments(
  tx: TransactionSql,
  records: readonly StorableRecord[],
): Promise<void> {
  const calls = records.flatMap(({ request }) => (isExperiments(request) ? [request] : []));
  if (calls.length === 0) return;
  await countCosts(tx, calls);
  await schedule(
    tx,
    calls.filter(({ status, error_code }) => status === 200 && error_code === null),
  );
}

function isExperiments(request: StorableRecord['request']): request is Call {
  return request.source === 'experiment' && UUID.test(request.experiment_id ?? '');
}

async function countCosts(tx: TransactionSql, calls: readonly Call[]): Promise<void> {
  // The rows of experiments change in the order of their ids, so that two transactions cannot wait for each other.
  await tx`
    with made as (
      select distinct on (c.organization_id, c.request_id) c.*, x.experiment_id as id
        from unnest(${calls.map((one) => one.organization_id)}::uuid[], ${calls.map((one) => one.request_id)}::text[],
                    ${calls.map((one) => one.experiment_id)}::uuid[], ${calls.map((one) => one.cost_nano)}::int8[])
          as c (organization_id, request_id, experiment_id, cost_nano)
        join assay.experiments x on x.experiment_id = c.experiment_id and x.organization_id = c.organization_id
       order by c.organization_id, c.request_id
    ), counted as (
      insert into assay.experiment_calls as c (organization_id, request_id, experiment_id, cost_nano, is_recorded, begun_at)
      select organization_id, request_id, id, coalesce(cost_nano, 0), true, now() from made
      on conflict (organization_id, request_id) do update set cost_nano = excluded.cost_nano, is_recorded = true
        where not c.is_recorded
      returning c.experiment_id, c.cost_nano
    ), sums as (
      select experiment_id, sum(cost_nano)::int8 as cost_nano from counted group by experiment_id
    ), locked as (
      select x.experiment_id, sums.cost_nano
        from assay.experiments x join sums using (experiment_id) order by x.experiment_id for no key update of x
    )
    update assay.experiments x set spent_nano = x.spent_nano + locked.cost_nano
      from locked where x.experiment_id = locked.experiment_id and locked.cost_nano <> 0`;
}

type Grader = {
  experimentId: string;
  evaluatorId: string;
  version: number;
  scoringType: ScoringType;
  adapter: string | null;
};

async function schedule(tx: TransactionSql, answered: readonly Call[]): Promise<void> {
  if (answered.length === 0) return;
  const graders = await tx<Grader[]>`
    select x.experiment_id as "experimentId", e.evaluator_id as "evaluatorId", v.version, e.scoring_type as "scoringType",
           v.external_config ->> 'adapter' as adapter
      from assay.experiments x
     cross join lateral jsonb_to_recordset(x.evaluators) as used (id uuid, version int4)
      join assay.evaluators e on e.evaluator_id = used.id and e.organization_id = x.organization_id and e.deleted_at is null
      join assay.evaluator_versions v on v.evaluator_id = e.evaluator_id and v.version = used.version
     where x.experiment_id = any(${[...new Set(answered.map((one) => one.experiment_id))]}::uuid[])`;
  const due = answered.flatMap((call) =>
    graders
      .filter(({ experimentId, adapter }) => experimentId === call.experiment_id && !isImported(adapter))
      .map((grader) => ({ call, grader })),
  );
  if (due.length === 0) return;
  // The id of the experiment stands for that of a run over history: both are what an evaluation is made for.
  await tx`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, run_id, lane, priority, due_at, scheduled_at)
    select organization_id, evaluator_id, version, created_at, request_id, experiment_id, lane, ${PRIORITY}, now(), now()
      from unnest(${due.map(({ call }) => call.organization_id)}::uuid[], ${due.map(({ grader }) => grader.evaluatorId)}::uuid[],
                  ${due.map(({ grader }) => grader.version)}::int4[],
                  ${due.map(({ call }) => call.created_at.toISOString())}::timestamptz[],
                  ${due.map(({ call }) => call.request_id)}::text[], ${due.map(({ call }) => call.experiment_id)}::uuid[],
                  ${due.map(({ grader }) => laneOf(grader.scoringType, grader.adapter))}::text[])
        as due (organization_id, evaluator_id, version, created_at, request_id, experiment_id, lane)
    on conflict do nothing`;
  await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
}
