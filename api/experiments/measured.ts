/** Reads what an experiment measured: the runs of each metric, and what is told of its items. */
import type { ClusterKind } from '#core/contracts/comparison.ts';
import type { EarlyStopRule } from '#core/contracts/experiment.ts';
import { Parameters } from '#core/filter/mod.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findKeysOfIds, runStatement } from '../requests/mod.ts';

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
  /** `RecordColumns` of their answers, likewise. */
  records: string;
  /** Scores of its answers by evaluator; none of one that has not scored any. */
  scores: ScoreTexts[];
};

/** The runs that have ended, one array for each column. */
export type RunColumns = {
  itemIds: string[];
  repetitions: number[];
  positions: number[];
  isError: boolean[];
  requestIds: (string | null)[];
};

/** The records of answers, one array for each column. Those that were erased, or are older than records are kept, are not there. */
export type RecordColumns = {
  requestIds: string[];
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
  const [found] = await tx<Omit<Measured, 'runs' | 'records' | 'scores'>[]>`
    select experiment_id as "experimentId", name, dataset_id as "datasetId", dataset_version as "datasetVersion", evaluators,
           baseline_experiment_id as "baselineId", early_stop as "earlyStop"
      from assay.experiments where organization_id = ${organizationId} and experiment_id = ${experimentId}`;
  if (found === undefined) return undefined;
  const evaluators = await withCriteria(tx, organizationId, found.evaluators);
  const [{ runs, requestIds, answers }] = await tx<[{ runs: string; requestIds: string[]; answers: string }]>`
    select json_build_object(
             'itemIds', coalesce(json_agg(x.item_id), '[]'), 'repetitions', coalesce(json_agg(x.repetition), '[]'),
             'positions', coalesce(json_agg(x.position), '[]'), 'isError', coalesce(json_agg(x.state = 'error'), '[]'),
             'requestIds', coalesce(json_agg(x.request_id), '[]'))::text as runs,
           coalesce(array_agg(x.request_id) filter (where x.request_id is not null), '{}') as "requestIds",
           coalesce(array_agg(x.request_id) filter (where x.state = 'completed' and x.request_id is not null), '{}')::text
             as answers
      from assay.experiment_runs x
     where x.experiment_id = ${experimentId} and x.state in ('completed', 'error')`;
  return {
    ...found,
    evaluators,
    runs,
    records: await findRecords(tx, organizationId, requestIds, {
      requestIds: 'k.request_id',
      costsNano: 'r.cost_nano::text',
      latenciesMs: 'r.latency_ms',
      tokens: 'r.total_tokens',
    }),
    scores: await findScores(tx, organizationId, evaluators, answers),
  };
}

/**
 * Finds the records of requests, as columns that PostgreSQL writes. Each is looked up by its key, in the weeks that the ids tell: joined
 * with the runs of an experiment, which are many, Postgres read the whole log for them.
 * @param columns the expression of each column, of a key `k` and its record `r`
 */
async function findRecords(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
  columns: Readonly<Record<string, string>>,
): Promise<string> {
  const keys = await findKeysOfIds(tx, organizationId, requestIds);
  const parameters = new Parameters();
  const times = keys.map((key) => key.created_at.toISOString());
  const ids = keys.map((key) => key.request_id);
  const members = Object.entries(columns).map(
    ([name, expression]) => `'${name}', coalesce(json_agg(${expression}), '[]')`,
  );
  const text = `
    select json_build_object(${members.join(', ')})::text as records
      from unnest(${parameters.bind(times, 'text[]')}::timestamptz[], ${parameters.bind(ids, 'text[]')}) as k (created_at, request_id)
     cross join lateral (
       select * from assay.requests q where q.organization_id = ${parameters.bind(organizationId, 'uuid')}
          and q.created_at = k.created_at and q.request_id = k.request_id offset 0) r`;
  const [row] = await runStatement<{ records: string }>(tx, { text, values: parameters.values });
  return row!.records;
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
  /** The value that related items share; null also where it is that of their requests. */
  clusters: (string | null)[];
  sourceRequestIds: (string | null)[];
};

/** The value that related items share, by the requests that they are of. */
export type ClusterColumns = { requestIds: string[]; clusters: (string | null)[] };

/** Facts of items as PostgreSQL wrote them: `ItemColumns`, and `ClusterColumns` where items are grouped by their requests. */
export type ItemTexts = { items: string; clusters: string | null };

const CLUSTER_COLUMNS: Partial<Record<ClusterKind, string>> = { session: 'r.session_id', user: 'r.user_id' };

/** Finds what items of a version are called, and what they have in common with others. */
export async function findItems(
  tx: TransactionSql,
  organizationId: string,
  { datasetId, datasetVersion }: Measured,
  cluster: ClusterKind,
): Promise<ItemTexts> {
  const column = CLUSTER_COLUMNS[cluster];
  const [{ items, requestIds }] = await tx<[{ items: string; requestIds: string[] }]>`
    select json_build_object(
             'itemIds', coalesce(json_agg(i.item_id), '[]'), 'externalIds', coalesce(json_agg(i.external_id), '[]'),
             'clusters', coalesce(json_agg(case when ${cluster} = 'cluster' then i.cluster end), '[]'),
             'sourceRequestIds', coalesce(json_agg(i.source_request_id), '[]'))::text as items,
           coalesce(array_agg(i.source_request_id) filter (where i.source_request_id is not null), '{}') as "requestIds"
      from assay.dataset_items i
     where i.dataset_id = ${datasetId} and i.from_version <= ${datasetVersion}::int4
       and (i.to_version is null or i.to_version > ${datasetVersion}::int4)`;
  if (column === undefined) return { items, clusters: null };
  const columns = { requestIds: 'k.request_id', clusters: column };
  return { items, clusters: await findRecords(tx, organizationId, requestIds, columns) };
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
