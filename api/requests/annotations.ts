/** Scores and ratings that callers set. Each change is noted in the change feed, in its transaction. */
import { AssayError } from '#core/contracts/errors.ts';
import type { ScoreBody } from '#core/contracts/query.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findKey, keyCondition, type RequestKey } from './find-keys.ts';
import { runStatement } from './statement.ts';

/** Returns the scores as they are stored: true becomes 1 and false 0. */
export function scoresOf({ scores }: ScoreBody): Map<string, number> {
  return new Map(Object.entries(scores).map(([key, score]) => [storableText(key), Number(score)]));
}

/** Selects a request, and keeps it from being erased until the transaction ends: a score of an erased one would stay. */
function lockedRequest(parameters: Parameters, organizationId: string, key: RequestKey): string {
  return `
      select organization_id, created_at, request_id from assay.requests
      where ${keyCondition(parameters, organizationId, key)}
      for key share`;
}

/** Sets scores; returns a row for each unless there is no such request. */
function scoresStatement(
  organizationId: string,
  request: RequestKey,
  scores: ReadonlyMap<string, number>,
  at: Date,
): Statement {
  const parameters = new Parameters();
  const keys = parameters.bind([...scores.keys()], 'text[]');
  const values = parameters.bind([...scores.values()].map(String), 'text[]');
  const text = `
    with r as materialized (${lockedRequest(parameters, organizationId, request)})
    insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
    select r.organization_id, r.created_at, r.request_id, k.key, k.value, ${parameters.bind(at.toISOString(), 'timestamptz')}
    from r cross join unnest(${keys}, ${values}::float8[]) as k(key, value)
    order by k.key collate "C"
    on conflict (organization_id, created_at, request_id, key)
      do update set value = excluded.value, updated_at = excluded.updated_at,
                    evaluator_id = null, evaluator_version = null
    returning created_at, request_id, key, value`;
  return { text, values: parameters.values };
}

/** Evaluators write a score each, and people and programs some: pages show all of them. */
const MAX_SCORES = 1_000;

async function requireFewScores(
  tx: TransactionSql,
  organizationId: string,
  { created_at, request_id }: RequestKey,
): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.request_scores
     where organization_id = ${organizationId} and created_at = ${created_at} and request_id = ${request_id}`;
  if (row!.count <= MAX_SCORES) return;
  throw new AssayError(
    'invalid_body',
    `A request can have at most ${MAX_SCORES} scores, and would have ${row!.count}`,
  );
}

/**
 * Sets scores of a request and keeps its other ones. Writes them in the order of their keys, so that two writers cannot
 * deadlock. Returns false when there is no such request.
 * @throws AssayError invalid_body when the request would have too many
 */
export async function setScores(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
  scores: ReadonlyMap<string, number>,
  at: Date,
): Promise<boolean> {
  type Row = RequestKey & { key: string; value: number };
  const request = await findKey(tx, organizationId, requestId);
  if (request === null) return false;
  const rows = await runStatement<Row>(tx, scoresStatement(organizationId, request, scores, at));
  const [first] = rows;
  if (first !== undefined) await requireFewScores(tx, organizationId, first);
  await noteChange(tx, {
    organizationId,
    kind: 'score',
    keys: rows.map(keyOf),
    details: rows.map(({ key, value }) => ({ key, value })),
  });
  return rows.length > 0;
}

/** Deletes a score; returns one row, which says whether the request had the score, unless there is no such request. */
function removeScoreStatement(organizationId: string, request: RequestKey, key: string): Statement {
  const parameters = new Parameters();
  const text = `
    with r as materialized (${lockedRequest(parameters, organizationId, request)}), removed as (
      delete from assay.request_scores s using r
      where s.organization_id = r.organization_id and s.created_at = r.created_at and s.request_id = r.request_id
        and s.key = ${parameters.bind(key, 'text')}
      returning 1
    )
    select created_at, request_id, exists (select from removed) as is_removed from r`;
  return { text, values: parameters.values };
}

/** Deletes a score of a request, set by any source. Returns false only when there is no such request. */
export async function removeScore(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
  key: string,
): Promise<boolean> {
  type Row = RequestKey & { is_removed: boolean };
  const request = await findKey(tx, organizationId, requestId);
  if (request === null) return false;
  const rows = await runStatement<Row>(tx, removeScoreStatement(organizationId, request, key));
  const changed = rows.filter(({ is_removed }) => is_removed);
  await noteChange(tx, {
    organizationId,
    kind: 'score',
    keys: changed.map(keyOf),
    details: changed.map(() => ({ key, value: null })),
  });
  return rows.length > 0;
}

function feedbackStatement(
  organizationId: string,
  request: RequestKey,
  feedback: { rating: boolean; at: Date } | null,
): Statement {
  const parameters = new Parameters();
  const text = `
    update assay.requests
    set feedback_rating = ${parameters.bind(feedback?.rating ?? null, 'bool')},
      feedback_created_at = ${parameters.bind(feedback?.at.toISOString() ?? null, 'timestamptz')}
    where ${keyCondition(parameters, organizationId, request)}
    returning created_at, request_id`;
  return { text, values: parameters.values };
}

/** Sets a request's rating, or removes it (null). Returns false when there is no such request. */
export async function setFeedback(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
  feedback: { rating: boolean; at: Date } | null,
): Promise<boolean> {
  const request = await findKey(tx, organizationId, requestId);
  if (request === null) return false;
  const statement = feedbackStatement(organizationId, request, feedback);
  const rows = await runStatement<RequestKey>(tx, statement);
  const rating = feedback?.rating ?? null;
  await noteChange(tx, {
    organizationId,
    kind: 'feedback',
    keys: rows.map(keyOf),
    details: rows.map(() => ({ rating })),
  });
  return rows.length > 0;
}

function keyOf({ created_at, request_id }: RequestKey) {
  return { createdAt: created_at, requestId: request_id };
}
