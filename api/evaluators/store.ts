/** The statements of evaluators and their versions, each within one organization. */
import { storableJson } from '#core/json/mod.ts';
import type { Scope, ScoringType } from '#core/scoring/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Definition } from './define.ts';
import type { EvaluatorRow } from './evaluator-json.ts';

/**
 * Locks an organization's evaluators until the transaction ends. Writers follow one another, so that names are unique, limits
 * hold and versions have no gaps without a failed insert.
 */
export async function lockEvaluators(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `evaluators ${organizationId}`);
}

const columns = (tx: TransactionSql) => tx`
  e.evaluator_id, e.organization_id, e.name, e.score_key, e.scoring_type, e.version, e.paused_reason, e.paused_message,
  e.daily_budget_nano, e.created_at, e.updated_at, v.llm_template, v.code_template, v.external_config, v.secrets,
  v.threshold, e.scope
  from assay.evaluators e
  join assay.evaluator_versions v
    on v.organization_id = e.organization_id and v.evaluator_id = e.evaluator_id and v.version = e.version`;

/** Finds an evaluator that is not deleted. */
export async function findEvaluator(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
): Promise<EvaluatorRow | undefined> {
  const [row] = await tx<EvaluatorRow[]>`
    select ${columns(tx)}
    where e.organization_id = ${organizationId} and e.evaluator_id = ${evaluatorId} and e.deleted_at is null`;
  return row;
}

/** Lists evaluators, the newest first. */
export async function listEvaluators(tx: TransactionSql, organizationId: string): Promise<EvaluatorRow[]> {
  return tx<EvaluatorRow[]>`
    select ${columns(tx)}
    where e.organization_id = ${organizationId} and e.deleted_at is null
    order by e.created_at desc, e.evaluator_id desc`;
}

export async function countEvaluators(tx: TransactionSql, organizationId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.evaluators
    where organization_id = ${organizationId} and deleted_at is null`;
  return row!.count;
}

/** Finds another evaluator with this score key. */
export async function findNameTaken(
  tx: TransactionSql,
  organizationId: string,
  scoreKey: string,
  ownId: string | null,
): Promise<{ evaluator_id: string; name: string } | undefined> {
  const [row] = await tx<{ evaluator_id: string; name: string }[]>`
    select evaluator_id, name from assay.evaluators
    where organization_id = ${organizationId} and score_key = ${scoreKey} and deleted_at is null
      and evaluator_id is distinct from ${ownId}::uuid`;
  return row;
}

/** The columns of an evaluator that are written whenever it is created or changed. */
type EvaluatorFields = {
  organizationId: string;
  evaluatorId: string;
  name: string;
  scoreKey: string;
  dailyBudgetNano: number | string | null;
  at: Date;
};

export async function insertEvaluator(
  tx: TransactionSql,
  evaluator: EvaluatorFields & { scoringType: ScoringType; scope: Scope },
): Promise<void> {
  const { organizationId, evaluatorId, name, scoreKey, scoringType, scope, dailyBudgetNano, at } = evaluator;
  await tx`
    insert into assay.evaluators
      (evaluator_id, organization_id, name, score_key, scoring_type, scope, daily_budget_nano, created_at, updated_at)
    values
      (${evaluatorId}, ${organizationId}, ${name}, ${scoreKey}, ${scoringType}, ${scope}, ${dailyBudgetNano},
       ${at}, ${at})`;
}

export async function addVersion(
  tx: TransactionSql,
  version: {
    organizationId: string;
    evaluatorId: string;
    version: number;
    definition: Definition;
    threshold: number | null;
    at: Date;
  },
): Promise<void> {
  const { llm_template, code_template, external_config, secrets } = version.definition;
  const json = (value: object | null) => (value === null ? null : storableJson(value).text);
  await tx`
    insert into assay.evaluator_versions
      (evaluator_id, version, organization_id, llm_template, code_template, external_config, secrets, threshold,
       created_at)
    values
      (${version.evaluatorId}, ${version.version}, ${version.organizationId}, ${json(llm_template)}::text::jsonb,
       ${json(code_template)}::text::jsonb, ${json(external_config)}::text::jsonb, ${secrets},
       ${version.threshold}, ${version.at})`;
}

export async function updateEvaluator(
  tx: TransactionSql,
  evaluator: EvaluatorFields & { version: number },
): Promise<EvaluatorRow> {
  await tx`
    update assay.evaluators
    set name = ${evaluator.name}, score_key = ${evaluator.scoreKey}, version = ${evaluator.version},
      daily_budget_nano = ${evaluator.dailyBudgetNano}, updated_at = ${evaluator.at}
    where organization_id = ${evaluator.organizationId} and evaluator_id = ${evaluator.evaluatorId}`;
  return (await findEvaluator(tx, evaluator.organizationId, evaluator.evaluatorId))!;
}

/** Deletes an evaluator. Its scores stay, its open evaluations end as skipped when their turn comes, its runs end. */
export async function deleteEvaluator(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  at: Date,
): Promise<void> {
  // It is resumed, too: an evaluation under way would be paused, and nobody could resume it.
  await tx`
    update assay.evaluators
       set deleted_at = ${at}, updated_at = ${at}, paused_reason = null, paused_message = null, resumes = resumes + 1
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}`;
  await tx`
    delete from assay.online_evaluators
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}`;
  await tx`
    update assay.evaluation_runs set state = 'cancelled', updated_at = ${at}
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId} and state in ('running', 'paused')`;
}

export async function unpauseEvaluator(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  at: Date,
): Promise<void> {
  await tx`
    update assay.evaluators
    set paused_reason = null, paused_message = null, resumes = resumes + 1, updated_at = ${at}
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId} and paused_reason is not null`;
}
