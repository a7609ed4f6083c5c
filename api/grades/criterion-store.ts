/** The statements of criteria, each within one organization: `tx` is of the role `assay_api`. */
import type { Kind } from '#core/grades/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';

export type CriterionRow = {
  criterion_id: string;
  name: string;
  description: string;
  kind: Kind;
  evaluator_id: string | null;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
};

/** The properties of a criterion that its owners choose, with its name as it is compared. */
export type CriterionSettings = {
  name: string;
  foldedName: string;
  description: string;
  kind: Kind;
  evaluatorId: string | null;
};

const columns = (tx: TransactionSql) => tx`
  criterion_id, name, description, kind, evaluator_id, created_at, updated_at, archived_at`;

/** Makes the changes of an organization's criteria wait for each other until the transaction ends. */
export async function lockCriteria(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `criteria ${organizationId}`);
}

/** Lists criteria that are archived, or those that are not; the newest first. */
export function listCriteria(
  tx: TransactionSql,
  organizationId: string,
  isArchived: boolean,
  limit: number,
): Promise<CriterionRow[]> {
  return tx<CriterionRow[]>`
    select ${columns(tx)} from assay.criteria
    where organization_id = ${organizationId} and (archived_at is not null) = ${isArchived}
    order by created_at desc, criterion_id desc limit ${limit}`;
}

/** Finds criteria by their ids, archived ones as well. */
export function findCriteria(
  tx: TransactionSql,
  organizationId: string,
  criterionIds: readonly string[],
): Promise<CriterionRow[]> {
  return tx<CriterionRow[]>`
    select ${columns(tx)} from assay.criteria
    where organization_id = ${organizationId} and criterion_id = any(${[...criterionIds]}::uuid[])`;
}

/** Keeps a criterion from being changed until the transaction ends. */
export async function lockCriterion(
  tx: TransactionSql,
  organizationId: string,
  criterionId: string,
): Promise<CriterionRow | undefined> {
  const [row] = await tx<CriterionRow[]>`
    select ${columns(tx)} from assay.criteria
    where organization_id = ${organizationId} and criterion_id = ${criterionId} for share`;
  return row;
}

export async function insertCriterion(
  tx: TransactionSql,
  organizationId: string,
  criterion: CriterionSettings & { criterionId: string; at: Date },
): Promise<CriterionRow> {
  const { criterionId, name, foldedName, description, kind, evaluatorId, at } = criterion;
  const [row] = await tx<[CriterionRow]>`
    insert into assay.criteria
      (criterion_id, organization_id, name, folded_name, description, kind, evaluator_id, created_at, updated_at)
    values (${criterionId}, ${organizationId}, ${name}, ${foldedName}, ${description},
      ${storableJson(kind).text}::text::jsonb, ${evaluatorId}, ${at}, ${at})
    returning ${columns(tx)}`;
  return row;
}

/** Changes a criterion. Waits for those who grade by it. */
export async function updateCriterion(
  tx: TransactionSql,
  organizationId: string,
  criterion: CriterionSettings & { criterionId: string; at: Date },
): Promise<CriterionRow> {
  const { criterionId, name, foldedName, description, kind, evaluatorId, at } = criterion;
  const [row] = await tx<[CriterionRow]>`
    update assay.criteria
    set name = ${name}, folded_name = ${foldedName}, description = ${description},
      kind = ${storableJson(kind).text}::text::jsonb, evaluator_id = ${evaluatorId}, updated_at = ${at}
    where organization_id = ${organizationId} and criterion_id = ${criterionId}
    returning ${columns(tx)}`;
  return row;
}

/** Archives a criterion; returns whether there is one. One that is archived stays as it is. */
export async function archiveCriterion(
  tx: TransactionSql,
  organizationId: string,
  criterionId: string,
  at: Date,
): Promise<boolean> {
  const updated = await tx`
    update assay.criteria set archived_at = coalesce(archived_at, ${at})
    where organization_id = ${organizationId} and criterion_id = ${criterionId} returning 1`;
  return updated.length === 1;
}

/** Returns whether anybody has graded by a criterion, also where the grade was taken back. */
export async function hasGrades(
  tx: TransactionSql,
  organizationId: string,
  criterionId: string,
): Promise<boolean> {
  const [row] = await tx<[{ has: boolean }]>`
    select exists (select from assay.grades where organization_id = ${organizationId} and criterion_id = ${criterionId})
      or exists (select from assay.grade_history
        where organization_id = ${organizationId} and criterion_id = ${criterionId}) as has`;
  return row.has;
}

/** Returns whether there is an evaluator of this id that is not deleted. */
export async function hasEvaluator(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
): Promise<boolean> {
  const found = await tx`
    select 1 from assay.evaluators
    where organization_id = ${organizationId} and evaluator_id = ${evaluatorId} and deleted_at is null`;
  return found.length === 1;
}
