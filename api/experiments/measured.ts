/** Reads what an experiment measured: the runs of each metric, and what is told of its items. */
import type { BuiltInMetric, ClusterKind } from '#core/contracts/comparison.ts';
import type { EarlyStopRule } from '#core/contracts/experiment.ts';
import { nanoToUsd } from '#core/contracts/money.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import type { Run } from '#core/statistics/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** An evaluator in the version that an experiment uses. */
type Used = { id: string; version: number };

export type Measured = {
  experimentId: string;
  name: string;
  datasetId: string;
  datasetVersion: number;
  evaluators: Used[];
  baselineId: string | null;
  /** By what it may have ended early. */
  earlyStop: EarlyStopRule | null;
  /** By item and repetition. */
  rows: RunMeasures[];
  /** Runs of each evaluator's scores. */
  scores: Map<string, Run[]>;
};

type RunMeasures = {
  itemId: string;
  repetition: number;
  position: number;
  state: string;
  requestId: string | null;
  costNano: string | null;
  latencyMs: number | null;
  tokens: number | null;
};

/** Finds an experiment; undefined: there is none. */
export async function findMeasured(
  tx: TransactionSql,
  organizationId: string,
  experimentId: string,
): Promise<Measured | undefined> {
  const [found] = await tx<Omit<Measured, 'rows' | 'scores'>[]>`
    select experiment_id as "experimentId", name, dataset_id as "datasetId", dataset_version as "datasetVersion", evaluators,
           baseline_experiment_id as "baselineId", early_stop as "earlyStop"
      from assay.experiments where organization_id = ${organizationId} and experiment_id = ${experimentId}`;
  if (found === undefined) return undefined;
  const experiment = { ...found, evaluators: await withCriteria(tx, organizationId, found.evaluators) };
  const rows = await tx<RunMeasures[]>`
    select x.item_id as "itemId", x.repetition, x.position, x.state, x.request_id as "requestId", q.cost_nano as "costNano",
           q.latency_ms as "latencyMs", q.total_tokens as tokens
      from assay.experiment_runs x
      left join assay.requests q on q.organization_id = x.organization_id and q.request_id = x.request_id
     where x.experiment_id = ${experimentId} and x.state in ('completed', 'error') order by x.item_id, x.repetition`;
  return { ...experiment, rows, scores: await findScores(tx, organizationId, experiment.evaluators, rows) };
}

/** Finds the scores of answers, by evaluator. They are looked up by their requests: a join takes the runs for few. */
async function findScores(
  tx: TransactionSql,
  organizationId: string,
  evaluators: readonly Used[],
  rows: readonly RunMeasures[],
): Promise<Map<string, Run[]>> {
  const scores = new Map<string, Run[]>(evaluators.map(({ id }) => [id, []]));
  const answered = rows.filter(({ state, requestId }) => state === 'completed' && requestId !== null);
  if (answered.length === 0) return scores;
  const byRequest = Map.groupBy(answered, ({ requestId }) => requestId!);
  const found = await tx<{ requestId: string; evaluatorId: string; score: number }[]>`
    select e.request_id as "requestId", e.evaluator_id as "evaluatorId", e.score
      from assay.evaluations e
      join unnest(${evaluators.map(({ id }) => id)}::uuid[], ${evaluators.map(({ version }) => version)}::int4[])
        as used (id, version) on used.id = e.evaluator_id and used.version = e.version
     where e.organization_id = ${organizationId} and e.request_id = any(${[...byRequest.keys()]}::text[])
       and e.probe = '' and e.state = 'completed' and e.score is not null`;
  for (const { requestId, evaluatorId, score } of found) {
    for (const { itemId, repetition } of byRequest.get(requestId)!)
      scores.get(evaluatorId)!.push({ itemId, repetition, cluster: null, value: score });
  }
  return scores;
}

/** Puts the criteria of rubrics in the place of these, which have no scores. An evaluator is there once, in its first version. */
export async function withCriteria(
  tx: TransactionSql,
  organizationId: string,
  evaluators: readonly Used[],
): Promise<Used[]> {
  const rubrics = await tx<{ id: string; version: number; criteria: Used[] }[]>`
    select evaluator_id as id, version, llm_template -> 'criteria' as criteria from assay.evaluator_versions
     where organization_id = ${organizationId} and evaluator_id = any(${evaluators.map(({ id }) => id)}::uuid[])
       and llm_template ? 'criteria'`;
  const all = evaluators.flatMap(
    (one) => rubrics.find(({ id, version }) => id === one.id && version === one.version)?.criteria ?? [one],
  );
  return all.filter(({ id }, index) => all.findIndex((one) => one.id === id) === index);
}

/** Returns the runs of a metric that is no score. A run that was not answered has no cost, latency or tokens. */
export function runsOf({ rows }: Measured, metric: BuiltInMetric): Run[] {
  return rows.flatMap((row) => {
    const value = measureOf(row, metric);
    return value === null ? [] : [{ itemId: row.itemId, repetition: row.repetition, cluster: null, value }];
  });
}

function measureOf(
  { state, costNano, latencyMs, tokens }: RunMeasures,
  metric: BuiltInMetric,
): number | null {
  if (metric === 'errors') return state === 'error' ? 1 : 0;
  if (state === 'error') return null;
  if (metric === 'latency_ms') return latencyMs;
  if (metric === 'tokens') return tokens;
  return costNano === null ? null : nanoToUsd(costNano);
}

export type ItemFacts = { externalId: string | null; cluster: string | null };

/** Returns what items of a version are called, and what they have in common with others. */
export async function findItemFacts(
  tx: TransactionSql,
  organizationId: string,
  { datasetId, datasetVersion }: Measured,
  cluster: ClusterKind,
): Promise<Map<string, ItemFacts>> {
  const rows = await tx<({ itemId: string } & ItemFacts)[]>`
    select i.item_id as "itemId", i.external_id as "externalId",
           case ${cluster} when 'cluster' then i.cluster when 'session' then q.session_id when 'user' then q.user_id end as cluster
      from assay.dataset_items i
      left join assay.requests q on ${cluster === 'session' || cluster === 'user'}
                                and q.organization_id = ${organizationId} and q.request_id = i.source_request_id
     where i.dataset_id = ${datasetId} and i.from_version <= ${datasetVersion}::int4
       and (i.to_version is null or i.to_version > ${datasetVersion}::int4)`;
  return new Map(rows.map(({ itemId, ...facts }) => [itemId, facts]));
}

export type EvaluatorFacts = { id: string; name: string; scoringType: ScoringType; isDeleted: boolean };

/** Returns evaluators by their ids, also those that were deleted since. */
export async function findEvaluators(
  tx: TransactionSql,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, EvaluatorFacts>> {
  const rows = await tx<EvaluatorFacts[]>`
    select evaluator_id as id, name, scoring_type as "scoringType", deleted_at is not null as "isDeleted" from assay.evaluators
     where organization_id = ${organizationId} and evaluator_id = any(${[...ids]}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}
