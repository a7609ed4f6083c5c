/** Makes experiments: the experiment, all of its runs, and for recorded answers their evaluations, in one transaction. */
import { randomUUID } from 'node:crypto';
import { EXPERIMENTS_CHANNEL } from '#core/contracts/channels.ts';
import { quoteValue } from '#core/contracts/check.ts';
import { BUILT_IN_METRICS } from '#core/contracts/comparison.ts';
import { AssayError } from '#core/contracts/errors.ts';
import {
  type EarlyStopRule,
  type ExperimentBody,
  MAX_RUNNING_EXPERIMENTS,
  type Target,
} from '#core/contracts/experiment.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parseRules, UNGRADED } from '#core/experiments/gate/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import type { ApiKey } from '#platform/keys/mod.ts';
import { holdErasures, lockName, type TransactionSql } from '#platform/postgres/mod.ts';
import { findScoreRange, maxCostOf } from '../evaluators/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import { findKeysOfIds } from '../requests/mod.ts';
import { findGraders, type Grader } from './graders.ts';
import { findEvaluators, withCriteria } from './measured.ts';
import { readTarget } from './read-target.ts';
import { checkSize, type Items, insertRuns, scheduleGrades } from './runs.ts';

const DEFAULT_CONCURRENCY = 8;
/** In a body, the baseline that is made of the answers in the log. */
const RECORDED = 'recorded';

export type Author = Pick<ApiKey, 'keyId' | 'organizationId'>;

/** An experiment that is about to be made, with its texts as they are stored. */
type Planned = {
  author: Author;
  name: string;
  items: Items;
  target: Target;
  graders: Grader[];
  repetitions: number;
  seed: number;
  concurrency: number;
  usesCache: boolean;
  maxCostNano: number | null;
  rules: string[] | null;
  earlyStop: EarlyStopRule | null;
  git: string | null;
  baselineId: string | null;
  at: Date;
};

/**
 * Makes an experiment over a dataset and starts it, or finds one that asks the same where it may be reused.
 * @returns its id
 * @throws AssayError invalid_body, not_found, conflict
 */
export async function createExperiment(
  tx: TransactionSql,
  author: Author,
  body: ExperimentBody & { datasetId: string },
  at: Date,
): Promise<string> {
  const { organizationId } = author;
  const { repetitions = 1, seed = 0, concurrency = DEFAULT_CONCURRENCY, cache = false } = body;
  const target = await readTarget(tx, organizationId, body.target);
  // Until the experiment is committed no erasure begins, which could miss its evaluations.
  await holdErasures(tx, organizationId);
  await lockName(tx, `experiments ${organizationId}`);
  const datasetId = readUuid('dataset', body.datasetId);
  const version = await findVersion(tx, organizationId, datasetId, body.datasetVersion ?? null);
  const items = { datasetId, version, split: body.split ?? null };
  const planned = {
    author,
    name: storableText(body.name.trim()),
    items,
    target,
    graders: await findGraders(tx, organizationId, body.evaluatorIds ?? []),
    repetitions,
    seed,
    concurrency,
    usesCache: cache,
    maxCostNano: maxCostOf(body),
    rules: body.rules ?? null,
    earlyStop: null,
    git: body.git === undefined ? null : storableJson(body.git).text,
    at,
  };
  if (body.rules !== undefined) await checkRules(tx, organizationId, body.rules, planned.graders);
  if (body.reuse === true) {
    const same = await findSame(tx, planned);
    if (same !== undefined) return same;
  }
  await refuseTooMany(tx, organizationId);
  await checkSize(tx, { ...items, repetitions });
  const baselineId = await readBaseline(tx, planned, body.baseline);
  const earlyStop = await readEarlyStop(tx, organizationId, body, { graders: planned.graders, baselineId });
  return await insert(tx, { ...planned, baselineId, earlyStop });
}

/** @throws AssayError invalid_body */
async function readEarlyStop(
  tx: TransactionSql,
  organizationId: string,
  { earlyStop, target, reuse }: ExperimentBody,
  { graders, baselineId }: { graders: readonly Grader[]; baselineId: string | null },
): Promise<EarlyStopRule | null> {
  if (earlyStop === undefined) return null;
  if (baselineId === null) throw invalidField('earlyStop', 'needs a baseline');
  if (target.kind === 'recorded' || target.kind === 'external' || reuse === true)
    throw invalidField('earlyStop', 'needs a target whose calls are made here, without reuse');
  const { evaluatorId } = earlyStop;
  const wanted = evaluatorId === undefined ? graders[0]?.id : readUuid('evaluator', evaluatorId);
  const grader = graders.find(({ id }) => id === wanted);
  if (grader === undefined) throw invalidField('earlyStop.evaluatorId', 'must be one of evaluatorIds');
  const named = quoteValue(grader.name);
  if (grader.scoringType === 'LLM-RUBRIC')
    throw invalidField(
      'earlyStop',
      `needs an evaluator with a score, but ${named} is a rubric: its criteria have scores`,
    );
  const graded = { id: grader.id, version: grader.version };
  const [isComparable] = await tx`
    select from assay.experiments
     where experiment_id = ${baselineId} and evaluators @> ${JSON.stringify([graded])}::text::jsonb`;
  if (isComparable === undefined)
    throw invalidField(
      'earlyStop',
      `needs a baseline that is graded by the version ${grader.version} of ${named}`,
    );
  const range = await findScoreRange(tx, organizationId, grader.id, grader.version);
  return { evaluatorId: grader.id, margin: earlyStop.margin ?? null, range };
}

/** Returns the id of the baseline that a body names, which is made here when it is of recorded answers. */
async function readBaseline(
  tx: TransactionSql,
  planned: Omit<Planned, 'baselineId'>,
  baseline: string | undefined,
): Promise<string | null> {
  if (baseline === undefined) return null;
  if (baseline === RECORDED) {
    const recorded: Planned = {
      ...planned,
      name: `${planned.name}: as logged`.slice(0, 200),
      target: { kind: 'recorded' },
      repetitions: 1,
      maxCostNano: null,
      rules: null,
      earlyStop: null,
      baselineId: null,
    };
    return (await findSame(tx, recorded)) ?? (await insert(tx, recorded));
  }
  const baselineId = readUuid('experiment', baseline);
  const [found] = await tx<{ dataset_id: string }[]>`
    select dataset_id from assay.experiments
     where organization_id = ${planned.author.organizationId} and experiment_id = ${baselineId}`;
  if (found === undefined) throw unknown('experiment', baseline);
  if (found.dataset_id === planned.items.datasetId) return baselineId;
  throw invalidField('baseline', 'must be an experiment over the same dataset');
}

const gradersJson = (graders: readonly Grader[]) =>
  JSON.stringify(graders.map(({ id, version }) => ({ id, version })));

/**
 * Finds the newest experiment that asks the same: of the same items, target and evaluators, and without errors. One that ended
 * early, or still may, has not asked all items, and those that it has were chosen by their answers. One whose answers were erased,
 * or are older than records are kept, has nothing left that can be compared.
 */
async function findSame(
  tx: TransactionSql,
  { author, items, target, graders, repetitions, usesCache }: Omit<Planned, 'baselineId'>,
): Promise<string | undefined> {
  if (target.kind === 'external') throw invalidField('reuse', 'cannot stand with the target external');
  const [same] = await tx<{ id: string }[]>`
    select x.experiment_id as id from assay.experiments x
     where x.organization_id = ${author.organizationId} and x.dataset_id = ${items.datasetId}
       and x.dataset_version = ${items.version} and x.split is not distinct from ${items.split}
       and x.target = ${storableJson(target).text}::text::jsonb and x.evaluators = ${gradersJson(graders)}::text::jsonb
       and x.repetitions = ${repetitions} and x.cache = ${usesCache ? 'on' : 'off'} and x.state in ('running', 'completed')
       and x.stopped is null and (x.early_stop is null or x.state = 'completed')
       and not exists (select from assay.experiment_runs r
                        where r.experiment_id = x.experiment_id and r.state = 'error')
     order by x.created_at desc limit 1`;
  return same !== undefined && (await hasItsAnswers(tx, author.organizationId, same.id))
    ? same.id
    : undefined;
}

/** Answers that are looked for at a time: an experiment may have 100,000, and other calls are served between. */
const LOOKED_FOR_AT_ONCE = 1_000;

/** Returns whether the records of an experiment's answers are still there; those that are not stored yet are on their way. */
async function hasItsAnswers(
  tx: TransactionSql,
  organizationId: string,
  experimentId: string,
): Promise<boolean> {
  type Answer = { itemId: string; repetition: number; requestId: string };
  let last: Pick<Answer, 'itemId' | 'repetition'> = { itemId: '', repetition: 0 };
  for (;;) {
    const answers: readonly Answer[] = await tx<Answer[]>`
      select r.item_id as "itemId", r.repetition, r.request_id as "requestId"
        from assay.experiment_runs r
        left join assay.experiment_calls c on c.organization_id = r.organization_id and c.request_id = r.request_id
       where r.experiment_id = ${experimentId} and (r.item_id, r.repetition) > (${last.itemId}, ${last.repetition}::int2)
         and r.state = 'completed' and r.request_id is not null and c.is_recorded is distinct from false
       order by r.item_id, r.repetition limit ${LOOKED_FOR_AT_ONCE}`;
    const ids = answers.map(({ requestId }) => requestId);
    const found = await findKeysOfIds(tx, organizationId, ids);
    if (found.length < new Set(ids).size) return false;
    if (answers.length < LOOKED_FOR_AT_ONCE) return true;
    last = answers.at(-1)!;
  }
}

async function insert(tx: TransactionSql, planned: Planned): Promise<string> {
  const { author, items, target, graders, repetitions, seed, at } = planned;
  const { organizationId } = author;
  const experimentId = randomUUID();
  await tx`
    insert into assay.experiments
      (experiment_id, organization_id, name, dataset_id, dataset_version, split, target, evaluators, repetitions, seed,
       concurrency, cache, max_cost_nano, state, rules, early_stop, git, baseline_experiment_id, created_by, created_at, updated_at)
    values
      (${experimentId}, ${organizationId}, ${planned.name}, ${items.datasetId}, ${items.version}, ${items.split},
       ${storableJson(target).text}::text::jsonb, ${gradersJson(graders)}::text::jsonb, ${repetitions}, ${seed}::int8,
       ${planned.concurrency}, ${planned.usesCache ? 'on' : 'off'}, ${planned.maxCostNano}::int8, 'running',
       ${planned.rules === null ? null : storableJson(planned.rules).text}::text::jsonb,
       ${planned.earlyStop === null ? null : JSON.stringify(planned.earlyStop)}::text::jsonb, ${planned.git}::text::jsonb, ${planned.baselineId}::uuid, ${author.keyId}::uuid, ${at}, ${at})`;
  const isRecorded = target.kind === 'recorded';
  await insertRuns(tx, { ...items, experimentId, organizationId, repetitions, seed, isRecorded, at });
  if (isRecorded) {
    await scheduleGrades(tx, { experimentId, organizationId, graders, at });
    await tx`
      update assay.experiments set state = 'completed', finished_at = ${at} where experiment_id = ${experimentId}`;
  } else await tx`select pg_notify(${EXPERIMENTS_CHANNEL}, '')`;
  return experimentId;
}

/**
 * Checks rules before anything is spent.
 * @throws AssayError invalid_body
 */
async function checkRules(
  tx: TransactionSql,
  organizationId: string,
  rules: readonly string[],
  graders: readonly Grader[],
): Promise<void> {
  const read = parseRules(rules);
  const used = await withCriteria(tx, organizationId, graders);
  const ids = used.map(({ id }) => id);
  const scoring = [...(await findEvaluators(tx, organizationId, ids)).values()];
  for (const { text, metric } of read) {
    if (metric === UNGRADED || BUILT_IN_METRICS.some((name) => name === metric)) continue;
    if (scoring.some(({ id, name }) => id === metric || name.toLowerCase() === metric.toLowerCase()))
      continue;
    const names = scoring.map(({ name }) => quoteValue(name)).join(', ');
    throw invalidField(
      'rules',
      `must be on cost, latency, tokens, errors, ungraded or an evaluator of the experiment${names === '' ? '' : ` (${names})`}, but ${quoteValue(text)} is not`,
    );
  }
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
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
  const [dataset] = await tx<{ last_version: number; archived_at: Date | null }[]>`
    select last_version, archived_at from assay.datasets
     where organization_id = ${organizationId} and dataset_id = ${datasetId}`;
  if (dataset === undefined) throw unknown('dataset', datasetId);
  if (dataset.archived_at !== null)
    throw new AssayError(
      'conflict',
      `The dataset ${datasetId} is archived: it can be read, but no experiment can be made over it`,
    );
  const version = wanted ?? dataset.last_version;
  if (version >= 1 && version <= dataset.last_version) return version;
  throw new AssayError(
    'invalid_body',
    dataset.last_version === 0
      ? 'The dataset has no items yet'
      : `datasetVersion must be from 1 to ${dataset.last_version}, but is ${version}`,
  );
}
