/** Makes experiments: the experiment, all of its runs, and for recorded answers their evaluations, in one transaction. */
import { randomUUID } from 'node:crypto';
import { EVALUATIONS_CHANNEL, EXPERIMENTS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import {
  type ExperimentBody,
  MAX_RUNNING_EXPERIMENTS,
  MAX_RUNS,
  type Target,
} from '#core/contracts/experiment.ts';
import { usdToNano } from '#core/contracts/money.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { storableJson } from '#core/json/mod.ts';
import { laneOf, type ScoringType } from '#core/scoring/mod.ts';
import type { ApiKey } from '#platform/keys/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid, refusePairwise, unknown } from '../evaluators/mod.ts';

const DEFAULT_CONCURRENCY = 8;
/** As for runs over history: after evaluations of incoming requests (0) and probes (1). */
const PRIORITY = 2;

type Author = Pick<ApiKey, 'keyId' | 'organizationId'>;
type Grader = { id: string; version: number; scoringType: ScoringType; adapter: string | null };

/**
 * Makes an experiment and starts it.
 * @throws AssayError invalid_body, not_found, conflict
 */
export async function createExperiment(
  tx: TransactionSql,
  { keyId, organizationId }: Author,
  body: ExperimentBody,
  at: Date,
): Promise<string> {
  const datasetId = readUuid('dataset', body.datasetId);
  const target = readTarget(body.target);
  // Until the experiment is committed no erasure begins, which could miss its evaluations.
  await tx`select pg_advisory_xact_lock_shared(assay.erasure_lock(${organizationId}))`;
  await refuseTooMany(tx, organizationId);
  const version = await findVersion(tx, organizationId, datasetId, body.datasetVersion ?? null);
  const graders = await findGraders(tx, organizationId, body.evaluatorIds ?? []);
  const { repetitions = 1, seed = 0, concurrency = DEFAULT_CONCURRENCY, cache = false } = body;
  const split = body.split ?? null;
  await checkSize(tx, { datasetId, version, split, repetitions });
  const experimentId = randomUUID();
  await tx`
    insert into assay.experiments
      (experiment_id, organization_id, name, dataset_id, dataset_version, split, target, evaluators, repetitions, seed,
       concurrency, cache, max_cost_nano, state, git, created_by, created_at, updated_at)
    values
      (${experimentId}, ${organizationId}, ${storableText(body.name.trim())}, ${datasetId}, ${version}, ${split},
       ${storableJson(target).text}::text::jsonb,
       ${JSON.stringify(graders.map(({ id, version }) => ({ id, version })))}::text::jsonb,
       ${repetitions}, ${seed}::int8, ${concurrency}, ${cache ? 'on' : 'off'}, ${maxCostOf(body)}::int8, 'running',
       ${body.git === undefined ? null : storableJson(body.git).text}::text::jsonb, ${keyId}::uuid, ${at}, ${at})`;
  const isRecorded = target.kind === 'recorded';
  await insertRuns(tx, {
    experimentId,
    organizationId,
    datasetId,
    version,
    split,
    repetitions,
    seed,
    isRecorded,
    at,
  });
  if (isRecorded) await finishRecorded(tx, { experimentId, organizationId, graders, at });
  else await tx`select pg_notify(${EXPERIMENTS_CHANNEL}, '')`;
  return experimentId;
}

/** @throws AssayError invalid_body */
function readTarget(target: Target): Target {
  if (target.kind !== 'prompt') return target;
  if (target.versionId !== undefined && target.environment !== undefined)
    throw new AssayError(
      'invalid_body',
      'target.versionId and target.environment exclude each other: send one of them',
    );
  return target;
}

/** @throws AssayError invalid_body */
function maxCostOf({ maxCost }: ExperimentBody): number | null {
  if (maxCost === undefined) return null;
  const nano = usdToNano(maxCost);
  if (nano !== null) return nano;
  throw new AssayError('invalid_body', `maxCost must have at most nine decimals, but is ${maxCost}`);
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`assay.experiments ${organizationId}`}, 0))`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.experiments
     where organization_id = ${organizationId} and state in ('running', 'paused')`;
  if (row!.count < MAX_RUNNING_EXPERIMENTS) return;
  throw new AssayError(
    'conflict',
    `An organization can have at most ${MAX_RUNNING_EXPERIMENTS} experiments that are running or paused`,
  );
}

async function findVersion(
  tx: TransactionSql,
  organizationId: string,
  datasetId: string,
  wanted: number | null,
): Promise<number> {
  const [dataset] = await tx<{ last_version: number }[]>`
    select last_version from assay.datasets
     where organization_id = ${organizationId} and dataset_id = ${datasetId} and archived_at is null`;
  if (dataset === undefined) throw unknown('dataset', datasetId);
  const version = wanted ?? dataset.last_version;
  if (version >= 1 && version <= dataset.last_version) return version;
  throw new AssayError(
    'invalid_body',
    dataset.last_version === 0
      ? 'The dataset has no items yet'
      : `datasetVersion must be from 1 to ${dataset.last_version}, but is ${version}`,
  );
}

async function findGraders(
  tx: TransactionSql,
  organizationId: string,
  evaluatorIds: readonly string[],
): Promise<Grader[]> {
  const ids = [...new Set(evaluatorIds.map((id) => readUuid('evaluator', id)))];
  const rows = await tx<Grader[]>`
    select e.evaluator_id as id, e.version, e.scoring_type as "scoringType", v.external_config ->> 'adapter' as adapter
      from assay.evaluators e
      join assay.evaluator_versions v on v.evaluator_id = e.evaluator_id and v.version = e.version
     where e.organization_id = ${organizationId} and e.evaluator_id = any(${ids}::uuid[]) and e.deleted_at is null`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const found = byId.get(id);
    if (found === undefined) throw unknown('evaluator', id);
    refusePairwise(found.scoringType);
    return found;
  });
}

type Items = { datasetId: string; version: number; split: string | null };

/** Selects the items of a version `i`, of one split or all. */
function itemsOf(tx: TransactionSql, { datasetId, version, split }: Items) {
  return tx`
    assay.dataset_items i
     where i.dataset_id = ${datasetId} and i.from_version <= ${version}::int4
       and (i.to_version is null or i.to_version > ${version}::int4) and (${split}::text is null or i.split = ${split})`;
}

async function checkSize(
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
async function insertRuns(tx: TransactionSql, runs: Runs): Promise<void> {
  const { experimentId, organizationId, repetitions, seed, isRecorded, at } = runs;
  await tx`
    insert into assay.experiment_runs
      (experiment_id, item_id, repetition, organization_id, position, due_at, state, request_id, error_code, error_message, finished_at)
    select ${experimentId}, i.item_id, repetition, ${organizationId},
           row_number() over (order by sha256(convert_to(${`${seed}/`} || i.item_id, 'UTF8')), i.item_id, repetition),
           ${at}::timestamptz,
           case when not ${isRecorded} then 'pending' when q.request_id is null then 'skipped' else 'completed' end,
           q.request_id,
           case when ${isRecorded} and q.request_id is null then 'not_recorded' end,
           case when ${isRecorded} and q.request_id is null then 'The log has no answer of this item' end,
           case when ${isRecorded} then ${at}::timestamptz end
      from (select * from ${itemsOf(tx, runs)}) i
      left join assay.requests q
        on ${isRecorded} and q.organization_id = ${organizationId} and q.request_id = i.source_request_id and q.status = 200
     cross join generate_series(1, ${isRecorded ? 1 : repetitions}::int4) as repetition`;
}

/** Grades the recorded answers that the evaluators' versions have not graded yet, and ends the experiment. */
async function finishRecorded(
  tx: TransactionSql,
  {
    experimentId,
    organizationId,
    graders,
    at,
  }: { experimentId: string; organizationId: string; graders: Grader[]; at: Date },
): Promise<void> {
  for (const { id, version, scoringType, adapter } of graders) {
    await tx`
      insert into assay.evaluations
        (organization_id, evaluator_id, version, created_at, request_id, run_id, lane, priority, due_at, scheduled_at)
      select ${organizationId}, ${id}, ${version}::int4, q.created_at, q.request_id, ${experimentId},
             ${laneOf(scoringType, adapter)}, ${PRIORITY}, ${at}::timestamptz, ${at}::timestamptz
        from assay.experiment_runs r
        join assay.requests q on q.organization_id = r.organization_id and q.request_id = r.request_id
       where r.experiment_id = ${experimentId} and r.state = 'completed'
      on conflict do nothing`;
  }
  await tx`
    update assay.experiments set state = 'completed', finished_at = ${at} where experiment_id = ${experimentId}`;
  await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
}
