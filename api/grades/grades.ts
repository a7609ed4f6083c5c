/** Grades that people give to responses. */
import { AssayError } from '#core/contracts/errors.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import {
  DEFAULT_PAGE,
  type GradeBody,
  type GradeJson,
  type GradePageJson,
  type GradeQueryBody,
  type GradeTakenBack,
  type GradeWithHistoryJson,
  MAX_GRADES_A_REQUEST,
} from '#core/contracts/grade.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { codeOf, type GradeValue, gradeOf, type Kind } from '#core/grades/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import { awaitRequest, findKeysOfIds, readQuery } from '../requests/mod.ts';
import type { Caller, Context } from './context.ts';
import { requireCriterion } from './criteria.ts';
import { type CriterionRow, findCriteria, lockCriterion } from './criterion-store.ts';
import {
  deleteGrade,
  findGrade,
  type GradeRow,
  type HistoryRow,
  insertGrade,
  isFull,
  keepFormer,
  listGrades,
  listGradesOf,
  listHistoryOf,
  lockPlace,
  lockRequest,
  type Place,
  type Said,
  updateGrade,
} from './grade-store.ts';
import { type Person, personOf } from './person.ts';

/** The work on grades, for one organization at a time. Bodies fit their schema; an unknown request or criterion is a not_found. */
export type Grades = {
  /**
   * Grades a request, in place of the same person's earlier grade. A grade that says the same changes nothing.
   * @throws AssayError invalid_body, conflict: the criterion is archived, or the request has too many grades
   */
  set(caller: Caller, requestId: string, body: GradeBody): Promise<GradeJson>;
  /** Takes a grade back, if there is one. */
  remove(caller: Caller, requestId: string, query: GradeTakenBack): Promise<null>;
  ofRequest(organizationId: string, requestId: string): Promise<GradeWithHistoryJson[]>;
  /** @throws AssayError invalid_body, invalid_filter */
  query(organizationId: string, body: GradeQueryBody): Promise<GradePageJson>;
};

function gradeJson(kind: Kind, row: GradeRow): GradeJson {
  return {
    id: row.grade_id,
    request_id: row.request_id,
    criterion_id: row.criterion_id,
    author: row.author,
    key_id: row.key_id,
    value: gradeOf(kind, row.value),
    comment: row.comment,
    graded_at: row.graded_at.toISOString(),
  };
}

function historyJson(kind: Kind, { value, graded_at, ended_at }: HistoryRow) {
  return {
    value: gradeOf(kind, value),
    graded_at: graded_at.toISOString(),
    ended_at: ended_at.toISOString(),
  };
}

/** Finds the kinds of grades' criteria. */
async function kindsOf(
  tx: TransactionSql,
  organizationId: string,
  rows: readonly GradeRow[],
): Promise<Map<string, Kind>> {
  const ids = [...new Set(rows.map(({ criterion_id }) => criterion_id))];
  const criteria = await findCriteria(tx, organizationId, ids);
  return new Map(criteria.map(({ criterion_id, kind }) => [criterion_id, kind]));
}

/** @throws AssayError conflict when the criterion is archived, invalid_body for a grade that it does not have */
function readValue({ criterion_id, kind, archived_at }: CriterionRow, value: GradeValue): number {
  if (archived_at !== null)
    throw new AssayError('conflict', `The criterion ${criterion_id} is archived: it takes no grades`);
  const coded = codeOf(kind, value);
  if ('rule' in coded) throw invalidField('value', coded.rule);
  return coded.code;
}

/** @throws AssayError conflict when the request has as many grades by the criterion as it may have */
async function setGrade(tx: TransactionSql, place: Place, person: Person, said: Said): Promise<GradeRow> {
  await lockPlace(tx, place);
  const former = await findGrade(tx, place, person.person);
  if (former === undefined) {
    if (!(await isFull(tx, place))) return insertGrade(tx, place, person, said);
    throw new AssayError(
      'conflict',
      `A request can have at most ${MAX_GRADES_A_REQUEST} grades by one criterion`,
    );
  }
  if (former.value === said.value && former.comment === said.comment) return former;
  if (former.value !== said.value) await keepFormer(tx, place, former, said.at);
  return updateGrade(tx, place.organizationId, former.grade_id, { ...said, keyId: person.keyId });
}

export function createGrades({ sql, clock }: Context): Grades {
  return {
    async set({ organizationId, keyId }, requestId, body) {
      const criterionId = readUuid('criterion', body.criterionId);
      const person = personOf(keyId, body.author);
      const comment = body.comment == null || body.comment === '' ? null : storableText(body.comment);
      const stored = storableText(requestId);
      return awaitRequest(requestId, { sql, clock, organizationId }, () =>
        inOrganization(sql, organizationId, async (tx) => {
          const criterion = await lockCriterion(tx, organizationId, criterionId);
          if (criterion === undefined) throw unknown('criterion', body.criterionId);
          const value = readValue(criterion, body.value);
          const createdAt = await lockRequest(tx, organizationId, stored);
          if (createdAt === null) return null;
          const place = { organizationId, requestId: stored, createdAt, criterionId };
          const said = { value, comment, at: new Date(clock.now()) };
          return gradeJson(criterion.kind, await setGrade(tx, place, person, said));
        }),
      );
    },

    async remove({ organizationId, keyId }, requestId, query) {
      const criterionId = readUuid('criterion', query.criterionId);
      const { person } = personOf(keyId, query.author);
      const stored = storableText(requestId);
      await awaitRequest(requestId, { sql, clock, organizationId }, () =>
        inOrganization(sql, organizationId, async (tx) => {
          await requireCriterion(tx, organizationId, criterionId);
          const createdAt = await lockRequest(tx, organizationId, stored);
          if (createdAt === null) return false;
          const place = { organizationId, requestId: stored, createdAt, criterionId };
          await lockPlace(tx, place);
          const former = await findGrade(tx, place, person);
          if (former === undefined) return true;
          await keepFormer(tx, place, former, new Date(clock.now()));
          await deleteGrade(tx, organizationId, former.grade_id);
          return true;
        }),
      );
      return null;
    },

    async ofRequest(organizationId, requestId) {
      const stored = storableText(requestId);
      return awaitRequest(requestId, { sql, clock, organizationId }, () =>
        inOrganization(sql, organizationId, async (tx) => {
          if ((await findKeysOfIds(tx, organizationId, [stored])).length === 0) return null;
          const rows = await listGradesOf(tx, organizationId, stored);
          const kinds = await kindsOf(tx, organizationId, rows);
          const history = Map.groupBy(
            await listHistoryOf(tx, organizationId, stored),
            ({ criterion_id, person }) => `${criterion_id} ${person}`,
          );
          return rows.map((row) => {
            const kind = kinds.get(row.criterion_id)!;
            const former = history.get(`${row.criterion_id} ${row.person}`) ?? [];
            return { ...gradeJson(kind, row), history: former.map((one) => historyJson(kind, one)) };
          });
        }),
      );
    },

    async query(organizationId, { criterionId, author, limit = DEFAULT_PAGE, after, ...where }) {
      const requests = readQuery({ filter: filterOf(where, { otherwise: 'all' }) });
      const wanted = {
        criterionId: criterionId === undefined ? null : readUuid('criterion', criterionId),
        author: author === undefined ? null : storableText(author),
        beforeId: after ?? null,
        requests,
        limit: limit + 1,
      };
      return inOrganization(sql, organizationId, async (tx) => {
        if (wanted.criterionId !== null) await requireCriterion(tx, organizationId, wanted.criterionId);
        const rows = await listGrades(tx, organizationId, wanted);
        const page = rows.slice(0, limit);
        const kinds = await kindsOf(tx, organizationId, page);
        return {
          grades: page.map((row) => gradeJson(kinds.get(row.criterion_id)!, row)),
          next: rows.length > limit ? page.at(-1)!.grade_id : null,
        };
      });
    },
  };
}
