/** The statements of imported judgments, each within one organization. */
import type { RequestKey } from '#core/contracts/changes.ts';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { type ChangedEvaluation, changedColumns, noteEvaluations } from '../changes.ts';
import type { EvaluatorRow } from '../evaluator-json.ts';
import { findVersion } from '../stats-statements.ts';
import type { ReadJudgment, Versions } from './read-judgment.ts';

/** Loads the definitions of versions; those that do not exist are left out. */
export async function loadVersions(
  tx: TransactionSql,
  evaluator: EvaluatorRow,
  numbers: Iterable<number>,
): Promise<Versions> {
  const byNumber = new Map();
  for (const number of numbers) {
    const version = number > evaluator.version ? undefined : await findVersion(tx, evaluator, number);
    if (version !== undefined) byNumber.set(number, version);
  }
  return { current: evaluator.version, byNumber };
}

/** A judgment with the time of its request. */
export type Placed = ReadJudgment & { createdAt: Date };

/** Returns the name of the evaluation that a judgment is: there is one of each. */
export function nameOf({ requestId, version }: Pick<ReadJudgment, 'requestId' | 'version'>): string {
  return `${version} ${requestId}`;
}

type Stored = ChangedEvaluation & { version: number };

/**
 * Stores judgments of different names as evaluations, unless these are there already. They are written in one order, so that two
 * imports of the same judgments cannot wait for each other.
 * @returns the ids of the stored evaluations, by name
 */
export async function insertJudgments(
  tx: TransactionSql,
  evaluator: EvaluatorRow,
  lane: string,
  judgments: readonly Placed[],
  at: Date,
): Promise<Map<string, string>> {
  const { organization_id: organizationId, evaluator_id: evaluatorId } = evaluator;
  const sorted = [...judgments].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const column = <Name extends keyof Placed>(name: Name) => sorted.map((one) => one[name]);
  const texts = (values: (number | null)[]) => values.map((value) => (value === null ? null : String(value)));
  const times = (values: Date[]) => values.map((value) => value.toISOString());
  const stored = await tx<Stored[]>`
    insert into assay.evaluations as e
      (organization_id, evaluator_id, version, created_at, request_id, lane, priority, state, due_at, attempts, score, label,
       reasoning, warnings, error_code, error_message, scheduled_at, finished_at, imported_at)
    select ${organizationId}::uuid, ${evaluatorId}::uuid, version, created_at, request_id, ${lane}, 2, state, ${at}::timestamptz, 1,
           score::float8, label, reasoning, case when warning is null then '{}' else array[warning] end, error_code, error_message,
           ${at}::timestamptz, finished_at, ${at}::timestamptz
      from unnest(${column('version')}::int4[], ${times(column('createdAt'))}::timestamptz[], ${column('requestId')}::text[],
                  ${column('state')}::text[], ${texts(column('score'))}::text[], ${column('label')}::text[],
                  ${column('reasoning')}::text[], ${column('warnings').map(([one = null]) => one)}::text[],
                  ${column('errorCode')}::text[], ${column('errorMessage')}::text[], ${times(column('finishedAt'))}::timestamptz[])
        as given (version, created_at, request_id, state, score, label, reasoning, warning, error_code, error_message, finished_at)
    on conflict do nothing
    returning ${changedColumns(tx)}, e.version`;
  await writeScores(tx, evaluator, stored);
  await noteEvaluations(tx, organizationId, stored);
  return new Map(stored.map((one) => [nameOf(one), one.evaluationId]));
}

/** Writes the scores of stored judgments into their records: of several versions that of the latest, as everywhere. */
async function writeScores(
  tx: TransactionSql,
  { organization_id: organizationId, evaluator_id: evaluatorId, score_key: key }: EvaluatorRow,
  stored: readonly Stored[],
): Promise<void> {
  const latest = new Map<string, Stored>();
  for (const one of stored) {
    const other = latest.get(one.requestId);
    if (one.score !== null && (other === undefined || other.version < one.version))
      latest.set(one.requestId, one);
  }
  const rows = [...latest.values()].sort((one, other) => (one.requestId < other.requestId ? -1 : 1));
  const written = await tx<(RequestKey & { value: number })[]>`
    insert into assay.request_scores as s
      (organization_id, created_at, request_id, key, value, updated_at, evaluator_id, evaluator_version)
    select ${organizationId}::uuid, created_at, request_id, ${key}, score::float8, now(), ${evaluatorId}::uuid, version
      from unnest(${rows.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
                  ${rows.map(({ requestId }) => requestId)}::text[], ${rows.map(({ score }) => String(score))}::text[],
                  ${rows.map(({ version }) => version)}::int4[])
        as given (created_at, request_id, score, version)
    on conflict (organization_id, created_at, request_id, key) do update
      set value = excluded.value, updated_at = excluded.updated_at,
          evaluator_id = excluded.evaluator_id, evaluator_version = excluded.evaluator_version
      where s.evaluator_id is distinct from excluded.evaluator_id or s.evaluator_version <= excluded.evaluator_version
    returning s.created_at as "createdAt", s.request_id as "requestId", s.value`;
  await noteChange(tx, {
    organizationId,
    kind: 'score',
    keys: written,
    details: written.map(({ value }) => ({ key, value })),
  });
}

/** Finds the evaluations of these names that are there. */
export async function findExisting(
  tx: TransactionSql,
  { organization_id: organizationId, evaluator_id: evaluatorId }: EvaluatorRow,
  judgments: readonly Placed[],
): Promise<Map<string, string>> {
  const rows = await tx<{ evaluationId: string; requestId: string; version: number }[]>`
    select e.evaluation_id::text as "evaluationId", e.request_id as "requestId", e.version
      from unnest(${judgments.map(({ requestId }) => requestId)}::text[],
                  ${judgments.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
                  ${judgments.map(({ version }) => version)}::int4[]) as given (request_id, created_at, version)
      join assay.evaluations e
        on e.organization_id = ${organizationId} and e.request_id = given.request_id and e.created_at = given.created_at
          and e.evaluator_id = ${evaluatorId} and e.version = given.version and e.probe = ''`;
  return new Map(rows.map((row) => [nameOf(row), row.evaluationId]));
}
