/** A criterion, by which people grade responses. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AssayError } from '#core/contracts/errors.ts';
import {
  type CriterionBody,
  type CriterionJson,
  type CriterionPatch,
  type CriterionQueryBody,
  MAX_CRITERIA,
  readKind,
} from '#core/contracts/grade.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import type { Kind } from '#core/grades/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import type { Context } from './context.ts';
import {
  archiveCriterion,
  type CriterionRow,
  type CriterionSettings,
  findCriteria,
  hasEvaluator,
  hasGrades,
  insertCriterion,
  listCriteria,
  lockCriteria,
  updateCriterion,
} from './criterion-store.ts';

/** The work on criteria, for one organization at a time. Bodies fit their schema; an unknown criterion is a not_found. */
export type Criteria = {
  /** @throws AssayError invalid_body, not_found (the evaluator), conflict: the name or the evaluator is taken, or there are too many */
  create(organizationId: string, body: CriterionBody): Promise<CriterionJson>;
  get(organizationId: string, criterionId: string): Promise<CriterionJson>;
  /** The newest first. */
  query(organizationId: string, body: CriterionQueryBody): Promise<CriterionJson[]>;
  /** @throws AssayError as `create`, and conflict for another kind of a criterion that has grades */
  change(organizationId: string, criterionId: string, patch: CriterionPatch): Promise<CriterionJson>;
  archive(organizationId: string, criterionId: string): Promise<null>;
};

/** Archived criteria that are listed. */
const MAX_ARCHIVED = 1_000;

function criterionJson({ criterion_id, ...row }: CriterionRow): CriterionJson {
  return {
    id: criterion_id,
    name: row.name,
    description: row.description,
    // As a schema names it, whose lists can be written to.
    kind: row.kind as CriterionJson['kind'],
    evaluator_id: row.evaluator_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}

/** @throws AssayError not_found */
export async function requireCriterion(
  tx: TransactionSql,
  organizationId: string,
  criterionId: string,
): Promise<CriterionRow> {
  const [row] = await findCriteria(tx, organizationId, [criterionId]);
  if (row === undefined) throw unknown('criterion', criterionId);
  return row;
}

/** @throws AssayError not_found, conflict when one is archived */
export async function requireLivingCriteria(
  tx: TransactionSql,
  organizationId: string,
  criterionIds: readonly string[],
): Promise<void> {
  const rows = new Map(
    (await findCriteria(tx, organizationId, criterionIds)).map((row) => [row.criterion_id, row]),
  );
  for (const id of criterionIds) {
    const row = rows.get(id);
    if (row === undefined) throw unknown('criterion', id);
    if (row.archived_at !== null) throw new AssayError('conflict', `The criterion ${id} is archived`);
  }
}

/** @throws AssayError invalid_body for a kind that breaks a rule, not_found for an id that cannot be one */
function settingsOf(body: Omit<CriterionBody, 'kind'>, kind: Kind): CriterionSettings {
  const name = storableText(body.name);
  const evaluatorId = body.evaluatorId ?? null;
  return {
    name,
    foldedName: foldName(name),
    description: storableText(body.description ?? ''),
    kind,
    evaluatorId: evaluatorId === null ? null : readUuid('evaluator', evaluatorId),
  };
}

/** @throws AssayError conflict */
function refuseTaken(others: readonly CriterionRow[], { foldedName, evaluatorId }: CriterionSettings): void {
  if (others.some(({ name }) => foldName(name) === foldedName))
    throw new AssayError('conflict', 'There is a criterion of this name already');
  const tied = others.find((other) => evaluatorId !== null && other.evaluator_id === evaluatorId);
  if (tied === undefined) return;
  throw new AssayError(
    'conflict',
    `The evaluator ${evaluatorId} is tied to the criterion ${tied.criterion_id}`,
  );
}

/** @throws AssayError not_found */
async function requireEvaluatorOf(
  tx: TransactionSql,
  organizationId: string,
  { evaluatorId }: CriterionSettings,
): Promise<void> {
  if (evaluatorId === null || (await hasEvaluator(tx, organizationId, evaluatorId))) return;
  throw unknown('evaluator', evaluatorId);
}

/** @throws AssayError conflict when people have graded by the criterion, which means that their grades would say something else */
async function refuseOtherKind(
  tx: TransactionSql,
  organizationId: string,
  { criterion_id, kind }: CriterionRow,
  wanted: Kind,
): Promise<void> {
  if (isDeepStrictEqual(kind, wanted) || !(await hasGrades(tx, organizationId, criterion_id))) return;
  throw new AssayError(
    'conflict',
    'The kind of a criterion that has grades cannot change: make another criterion',
  );
}

export function createCriteria({ sql, clock }: Context): Criteria {
  return {
    async create(organizationId, body) {
      const settings = settingsOf(body, readKind(body.kind));
      const row = await inOrganization(sql, organizationId, async (tx) => {
        await lockCriteria(tx, organizationId);
        await requireEvaluatorOf(tx, organizationId, settings);
        const others = await listCriteria(tx, organizationId, false, MAX_CRITERIA);
        if (others.length >= MAX_CRITERIA)
          throw new AssayError(
            'conflict',
            `An organization can have at most ${MAX_CRITERIA} criteria: archive one first`,
          );
        refuseTaken(others, settings);
        const at = new Date(clock.now());
        return insertCriterion(tx, organizationId, { ...settings, criterionId: randomUUID(), at });
      });
      return criterionJson(row);
    },

    async get(organizationId, criterionId) {
      const row = await inOrganization(sql, organizationId, (tx) =>
        requireCriterion(tx, organizationId, criterionId),
      );
      return criterionJson(row);
    },

    async query(organizationId, { archived = false }) {
      const rows = await inOrganization(sql, organizationId, (tx) =>
        listCriteria(tx, organizationId, archived, archived ? MAX_ARCHIVED : MAX_CRITERIA),
      );
      return rows.map(criterionJson);
    },

    async change(organizationId, criterionId, patch) {
      const kind = patch.kind === undefined ? null : readKind(patch.kind);
      const row = await inOrganization(sql, organizationId, async (tx) => {
        await lockCriteria(tx, organizationId);
        const before = await requireCriterion(tx, organizationId, criterionId);
        if (before.archived_at !== null)
          throw new AssayError('conflict', `The criterion ${criterionId} is archived`);
        const { evaluator_id: evaluatorId, name, description } = before;
        const settings = settingsOf({ name, description, evaluatorId, ...patch }, kind ?? before.kind);
        // An evaluator that was deleted meanwhile does not stand in the way of another change.
        if (patch.evaluatorId !== undefined) await requireEvaluatorOf(tx, organizationId, settings);
        const living = await listCriteria(tx, organizationId, false, MAX_CRITERIA);
        refuseTaken(
          living.filter(({ criterion_id }) => criterion_id !== criterionId),
          settings,
        );
        const at = new Date(clock.now());
        const changed = await updateCriterion(tx, organizationId, { ...settings, criterionId, at });
        // After the row is locked: whoever grades by it now waits, or has graded.
        await refuseOtherKind(tx, organizationId, before, settings.kind);
        return changed;
      });
      return criterionJson(row);
    },

    async archive(organizationId, criterionId) {
      const isThere = await inOrganization(sql, organizationId, (tx) =>
        archiveCriterion(tx, organizationId, criterionId, new Date(clock.now())),
      );
      if (!isThere) throw unknown('criterion', criterionId);
      return null;
    },
  };
}
