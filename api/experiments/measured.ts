/** Reads what an experiment measured: the runs of each metric, and what is told of its items. */
import type { ClusterKind } from '#core/contracts/comparison.ts';
import type { EarlyStopRule } from '#core/contracts/experiment.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** An evaluator in the version that an experiment uses. */
export type Used = { id: string; version: number };

export type Measured = {
  experimentId: string;
  name: string;
  datasetId: string;
  datasetVersion: number;
  evaluators: Used[];
  baselineId: string | null;
  /** By what it may have ended early. */
  earlyStop: EarlyStopRule | null;
  /** `RunColumns` as PostgreSQL wrote them, which only the thread parses. */
  runs: string;
  /** Scores of its answers by evaluator; none of one that has not scored any. */
  scores: ScoreTexts[];
};

/** The runs that have ended, one array for each column. */
export type RunColumns = {
  itemIds: string[];
  repetitions: number[];
  positions: number[];
  isError: boolean[];
  /** The record of an answer is gone: it was erased, or is older than records are kept. */
  isGone: boolean[];
  requestIds: (string | null)[];
  costsNano: (string | null)[];
  latenciesMs: (number | null)[];
  tokens: (number | null)[];
};

/** The scores of an evaluator beside the ids of the requests that they are of: two JSON arrays. */
export type ScoreTexts = { evaluatorId: string; requestIds: string; values: string; isBinary: boolean };

/**
 * Finds an experiment; undefined: there is none. Its runs are read as columns: 10,000 runs take 4 ms of this process, and 25
 * as rows.
 */
export async function findMeasured(
  tx: TransactionSql,
  organizationId: string,
  experimentId: string,
): Promise<Measured | undefined> {
  const [found] = await tx<Omit<Measured, 'runs' | 'scores'>[]>`
    select experiment_id as "experimentId", name, dataset_id as "datasetId", dataset_version as "datasetVersion", evaluators,
           baseline_experiment_id as "baselineId", early_stop as "earlyStop"
      from assay.experiments where organization_id = ${organizationId} and experiment_id = ${experimentId}`;
  if (found === undefined) return undefined;
  const evaluators = await withCriteria(tx, organizationId, found.evaluators);
  const [{ runs, answers }] = await tx<[{ runs: string; answers: string }]>`
    select json_build_object(
             'itemIds', coalesce(json_agg(x.item_id), '[]'), 'repetitions', coalesce(json_agg(x.repetition), '[]'),
             'positions', coalesce(json_agg(x.position), '[]'), 'isError', coalesce(json_agg(x.state = 'error'), '[]'),
             'isGone', coalesce(json_agg(x.state = 'completed' and q.request_id is null), '[]'),
             'requestIds', coalesce(json_agg(x.request_id), '[]'), 'costsNano', coalesce(json_agg(q.cost_nano::text), '[]'),
             'latenciesMs', coalesce(json_agg(q.latency_ms), '[]'), 'tokens', coalesce(json_agg(q.total_tokens), '[]'))::text
             as runs,
           coalesce(array_agg(x.request_id) filter (where x.state = 'completed' and x.request_id is not null), '{}')::text
             as answers
      from assay.experiment_runs x
      left join assay.requests q on q.organization_id = x.organization_id and q.request_id = x.request_id
     where x.experiment_id = ${experimentId} and x.state in ('completed', 'error')`;
  return {
    ...found,
    evaluators,
    runs,
    scores: await findScores(tx, organizationId, evaluators, answers),
  };
}

/**
 * Finds the scores of answers.
 * @param answers the ids of requests as an array of PostgreSQL: from a join or a subquery its planner takes them for few
 */
async function findScores(
  tx: TransactionSql,
  organizationId: string,
  evaluators: readonly Used[],
  answers: string,
): Promise<ScoreTexts[]> {
  return await tx<ScoreTexts[]>`
    select e.evaluator_id as "evaluatorId", json_agg(e.request_id)::text as "requestIds", json_agg(e.score)::text as values,
           bool_and(e.score in (0, 1)) as "isBinary"
      from assay.evaluations e
      join unnest(${evaluators.map(({ id }) => id)}::uuid[], ${evaluators.map(({ version }) => version)}::int4[])
        as used (id, version) on used.id = e.evaluator_id and used.version = e.version
     where e.organization_id = ${organizationId} and e.probe = '' and e.state = 'completed' and e.score is not null
       and e.request_id = any(${answers}::text[])
     group by e.evaluator_id`;
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

/** The items of a version, one array for each column. */
export type ItemColumns = {
  itemIds: string[];
  externalIds: (string | null)[];
  /** The value that related items share. */
  clusters: (string | null)[];
};

/** Returns what items of a version are called, and what they have in common with others: `ItemColumns` as PostgreSQL wrote them. */
export async function findItems(
  tx: TransactionSql,
  organizationId: string,
  { datasetId, datasetVersion }: Measured,
  cluster: ClusterKind,
): Promise<string> {
  const [{ items }] = await tx<[{ items: string }]>`
    select json_build_object(
             'itemIds', coalesce(json_agg(i.item_id), '[]'), 'externalIds', coalesce(json_agg(i.external_id), '[]'),
             'clusters', coalesce(json_agg(case ${cluster} when 'cluster' then i.cluster when 'session' then q.session_id
                                                           when 'user' then q.user_id end), '[]'))::text as items
      from assay.dataset_items i
      left join assay.requests q on ${cluster === 'session' || cluster === 'user'}
                                and q.organization_id = ${organizationId} and q.request_id = i.source_request_id
     where i.dataset_id = ${datasetId} and i.from_version <= ${datasetVersion}::int4
       and (i.to_version is null or i.to_version > ${datasetVersion}::int4)`;
  return items;
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
