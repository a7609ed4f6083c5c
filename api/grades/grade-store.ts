/** The statements of grades, each within one organization: `tx` is of the role `assay_api`. */
import { MAX_GRADES_A_REQUEST, MAX_HISTORY, MAX_LISTED_GRADES } from '#core/contracts/grade.ts';
import { Parameters } from '#core/filter/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';
import { conditionOf, findKey, type RequestQuery, runStatement } from '../requests/mod.ts';
import type { Person } from './person.ts';

/** `value` as core/grades/kind.ts codes it; `grade_id` as text. */
export type GradeRow = {
  grade_id: string;
  request_id: string;
  created_at: Date;
  criterion_id: string;
  person: string;
  key_id: string;
  author: string | null;
  value: number;
  comment: string | null;
  graded_at: Date;
};

export type HistoryRow = {
  criterion_id: string;
  person: string;
  value: number;
  graded_at: Date;
  ended_at: Date;
};

/** The request and criterion that a grade is of. */
export type Place = { organizationId: string; requestId: string; createdAt: Date; criterionId: string };

const COLUMNS =
  'g.grade_id::text as grade_id, g.request_id, g.created_at, g.criterion_id, g.person, g.key_id, g.author, g.value, g.comment, g.graded_at';

/**
 * Finds when a request was made, and keeps it from being erased until the transaction ends: a grade of an erased one would
 * stay.
 */
export async function lockRequest(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<Date | null> {
  const key = await findKey(tx, organizationId, requestId);
  if (key === null) return null;
  const [row] = await tx<{ created_at: Date }[]>`
    select created_at from assay.requests
    where organization_id = ${organizationId} and created_at = ${key.created_at} and request_id = ${requestId}
    for key share`;
  return row?.created_at ?? null;
}

/** Makes changes of one request's grades by one criterion wait for each other until the transaction ends. */
export async function lockPlace(tx: TransactionSql, place: Place): Promise<void> {
  const { organizationId, requestId, criterionId } = place;
  await lockName(tx, `grades ${organizationId} ${criterionId} ${requestId}`);
}

export async function findGrade(
  tx: TransactionSql,
  { organizationId, requestId, criterionId }: Place,
  person: string,
): Promise<GradeRow | undefined> {
  const [row] = await tx<GradeRow[]>`
    select ${tx.unsafe(COLUMNS)} from assay.grades g
    where g.organization_id = ${organizationId} and g.request_id = ${requestId}
      and g.criterion_id = ${criterionId} and g.person = ${person}`;
  return row;
}

/** Returns whether a request has as many grades by a criterion as it may have. */
export async function isFull(tx: TransactionSql, place: Place): Promise<boolean> {
  const { organizationId, requestId, criterionId } = place;
  const [row] = await tx<[{ count: number }]>`
    select count(*)::int4 as count from assay.grades
    where organization_id = ${organizationId} and request_id = ${requestId} and criterion_id = ${criterionId}`;
  return row.count >= MAX_GRADES_A_REQUEST;
}

/** A grade as one person gives it. */
export type Said = { value: number; comment: string | null; at: Date };

export async function insertGrade(
  tx: TransactionSql,
  { organizationId, requestId, createdAt, criterionId }: Place,
  { person, author, keyId }: Person,
  { value, comment, at }: Said,
): Promise<GradeRow> {
  const [row] = await tx<[GradeRow]>`
    insert into assay.grades as g
      (organization_id, request_id, created_at, criterion_id, person, key_id, author, value, comment, graded_at)
    values (${organizationId}, ${requestId}, ${createdAt}, ${criterionId}, ${person}, ${keyId}, ${author},
      ${value}::float8, ${comment}, ${at})
    returning ${tx.unsafe(COLUMNS)}`;
  return row;
}

export async function updateGrade(
  tx: TransactionSql,
  organizationId: string,
  gradeId: string,
  { keyId, value, comment, at }: Said & { keyId: string },
): Promise<GradeRow> {
  const [row] = await tx<[GradeRow]>`
    update assay.grades g
    set key_id = ${keyId}, value = ${value}::float8, comment = ${comment}, graded_at = ${at}
    where g.organization_id = ${organizationId} and g.grade_id = ${gradeId}::int8
    returning ${tx.unsafe(COLUMNS)}`;
  return row;
}

export async function deleteGrade(
  tx: TransactionSql,
  organizationId: string,
  gradeId: string,
): Promise<void> {
  await tx`delete from assay.grades where organization_id = ${organizationId} and grade_id = ${gradeId}::int8`;
}

/** Keeps the value of a grade that is replaced or taken back, and drops the oldest ones that are too many. */
export async function keepFormer(
  tx: TransactionSql,
  place: Place,
  former: GradeRow,
  endedAt: Date,
): Promise<void> {
  const { organizationId, requestId, createdAt, criterionId } = place;
  const { person, value, graded_at } = former;
  await tx`
    insert into assay.grade_history
      (organization_id, request_id, created_at, criterion_id, person, value, graded_at, ended_at)
    values (${organizationId}, ${requestId}, ${createdAt}, ${criterionId}, ${person}, ${value}::float8, ${graded_at}, ${endedAt})`;
  await tx`
    delete from assay.grade_history where history_id = any(array(
      select history_id from assay.grade_history
      where organization_id = ${organizationId} and request_id = ${requestId} and criterion_id = ${criterionId}
        and person = ${person}
      order by history_id desc offset ${MAX_HISTORY}))`;
}

/** Lists the grades of a request, the newest first. */
export function listGradesOf(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<GradeRow[]> {
  return tx<GradeRow[]>`
    select ${tx.unsafe(COLUMNS)} from assay.grades g
    where g.organization_id = ${organizationId} and g.request_id = ${requestId}
    order by g.grade_id desc limit ${MAX_LISTED_GRADES}`;
}

/** Lists former values of a request's grades, the newest first. */
export function listHistoryOf(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<HistoryRow[]> {
  return tx<HistoryRow[]>`
    select criterion_id, person, value, graded_at, ended_at from assay.grade_history
    where organization_id = ${organizationId} and request_id = ${requestId}
    order by history_id desc limit ${MAX_LISTED_GRADES * MAX_HISTORY}`;
}

/** Which grades are wanted; null: any. */
export type Wanted = {
  criterionId: string | null;
  author: string | null;
  /** Lists grades that were first given before this one. */
  beforeId: string | null;
  requests: RequestQuery;
  limit: number;
};

/** Writes the FROM clause of the wanted grades `g`; each one's request is looked up by its key. */
function fromWanted(organizationId: string, wanted: Wanted, parameters: Parameters): string {
  const organization = parameters.bind(organizationId, 'uuid');
  const { criterionId, author, beforeId, requests } = wanted;
  const conditions = [`g.organization_id = ${organization}`];
  if (criterionId !== null) conditions.push(`g.criterion_id = ${parameters.bind(criterionId, 'uuid')}`);
  if (author !== null) conditions.push(`g.author = ${parameters.bind(author, 'text')}`);
  if (beforeId !== null) conditions.push(`g.grade_id < ${parameters.bind(beforeId, 'int8')}`);
  const joined =
    requests.filter.kind === 'all'
      ? ''
      : `cross join lateral (select from assay.requests r where r.created_at = g.created_at
           and r.request_id = g.request_id and ${conditionOf(requests, organization, parameters, { joins: false })} offset 0) r`;
  return `from assay.grades g ${joined} where ${conditions.join(' and ')}`;
}

/** Lists grades, those that were given last first. */
export function listGrades(tx: TransactionSql, organizationId: string, wanted: Wanted): Promise<GradeRow[]> {
  const parameters = new Parameters();
  const from = fromWanted(organizationId, wanted, parameters);
  const text = `select ${COLUMNS} ${from} order by g.grade_id desc limit ${parameters.bind(wanted.limit, 'int8')}`;
  return runStatement<GradeRow>(tx, { text, values: parameters.values });
}

export type Rating = { request_id: string; person: string; value: number };

/** Lists who said what about which request, in no order. */
export function listRatings(tx: TransactionSql, organizationId: string, wanted: Wanted): Promise<Rating[]> {
  const parameters = new Parameters();
  const from = fromWanted(organizationId, wanted, parameters);
  const text = `select g.request_id, g.person, g.value ${from} limit ${parameters.bind(wanted.limit, 'int8')}`;
  return runStatement<Rating>(tx, { text, values: parameters.values });
}
