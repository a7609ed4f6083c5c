/**
 * Imports judgments that were made elsewhere: they become evaluations of an evaluator, which have ended. Each judgment has an
 * outcome of its own; those that can be stored are stored together, in one transaction. An evaluation that is there already,
 * whoever made it, is never changed, so a call can be repeated.
 */
import {
  IMPORT_OUTCOMES,
  type ImportedJson,
  type ImportedRowJson,
  type Judgment,
  type JudgmentsBody,
} from '#core/contracts/judgment.ts';
import { laneOf } from '#core/scoring/mod.ts';
import { holdErasures, inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { awaitRequests, findClaimed, findKeysOfIds } from '../../requests/mod.ts';
import type { Context } from '../context.ts';
import { requireEvaluator } from '../rules.ts';
import { findExisting, insertJudgments, loadVersions, nameOf, type Placed } from './judgment-store.ts';
import { parseJudgment, type ReadJudgment, readJudgment, ruleOf } from './read-judgment.ts';

/** @throws AssayError not_found: there is no such evaluator */
export type ImportJudgments = (
  organizationId: string,
  evaluatorId: string,
  body: JudgmentsBody,
) => Promise<ImportedJson>;

/** A judgment on its way: its outcome, or what is known of it so far. */
type Row = { shape: Judgment | null; read: ReadJudgment | null; result: ImportedRowJson | null };

const outcome = (
  requestId: string | null,
  name: ImportedRowJson['outcome'],
  { evaluationId = null, error = null }: Partial<ImportedRowJson> = {},
): ImportedRowJson => ({ requestId, outcome: name, evaluationId, error });

function parseRow(value: unknown): Row {
  try {
    return { shape: parseJudgment(value), read: null, result: null };
  } catch (error) {
    const { requestId } = (value ?? {}) as { requestId?: unknown };
    const known = typeof requestId === 'string' ? requestId : null;
    return { shape: null, read: null, result: outcome(known, 'invalid', { error: ruleOf(error) }) };
  }
}

function countOf(results: ImportedRowJson[]): ImportedJson {
  const counts = IMPORT_OUTCOMES.map((name) => [name, results.filter((one) => one.outcome === name).length]);
  return { ...(Object.fromEntries(counts) as Omit<ImportedJson, 'results'>), results };
}

export function createImport({ sql, clock }: Pick<Context, 'sql' | 'clock'>): ImportJudgments {
  /** Reads the judgments whose shape is right; the others have their outcome. */
  async function readRows(organizationId: string, evaluatorId: string, rows: readonly Row[]): Promise<void> {
    const versions = await inOrganization(sql, organizationId, async (tx) => {
      const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
      return loadVersions(
        tx,
        evaluator,
        new Set(rows.map(({ shape }) => shape?.version ?? evaluator.version)),
      );
    });
    const nowMs = clock.now();
    for (const row of rows) {
      if (row.shape === null) continue;
      try {
        row.read = readJudgment(row.shape, versions, nowMs);
      } catch (error) {
        row.result = outcome(row.shape.requestId, 'invalid', { error: ruleOf(error) });
      }
    }
  }

  /** Waits a moment for requests that were logged just now; returns the ids of those that are still to come. */
  async function awaitStored(organizationId: string, rows: readonly Row[]): Promise<Set<string>> {
    const ids = [...new Set(rows.flatMap(({ read }) => read?.requestId ?? []))];
    return awaitRequests(ids, clock, () =>
      inOrganization(sql, organizationId, async (tx) => {
        const keys = await findKeysOfIds(tx, organizationId, ids);
        const found = new Set(keys.map(({ request_id }) => request_id));
        const missing = ids.filter((id) => !found.has(id));
        const coming =
          missing.length === 0 ? new Set<string>() : await findClaimed(tx, organizationId, missing);
        return { found, coming };
      }),
    );
  }

  /** Gives rows the times of their requests; those without a request get their outcome. */
  async function place(
    tx: TransactionSql,
    organizationId: string,
    rows: readonly Row[],
    coming: ReadonlySet<string>,
  ): Promise<Map<Row, Placed>> {
    const ids = rows.flatMap(({ read }) => read?.requestId ?? []);
    const keys = await findKeysOfIds(tx, organizationId, ids);
    const times = new Map(keys.map(({ request_id, created_at }) => [request_id, created_at]));
    const placed = new Map<Row, Placed>();
    for (const row of rows) {
      if (row.read === null) continue;
      const createdAt = times.get(row.read.requestId);
      if (createdAt !== undefined) placed.set(row, { ...row.read, createdAt });
      else {
        const name = coming.has(row.read.requestId) ? 'not_stored_yet' : 'unknown_request';
        row.result = outcome(row.shape!.requestId, name);
      }
    }
    return placed;
  }

  return async (organizationId, evaluatorId, body) => {
    const rows = body.evaluations.map(parseRow);
    await readRows(organizationId, evaluatorId, rows);
    const coming = await awaitStored(organizationId, rows);
    await inOrganization(sql, organizationId, async (tx) => {
      // Until the judgments are committed no erasure begins, which could miss them.
      await holdErasures(tx, organizationId);
      const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
      const placed = await place(tx, organizationId, rows, coming);
      const firsts = new Map<string, Row>();
      for (const [row, one] of placed) if (!firsts.has(nameOf(one))) firsts.set(nameOf(one), row);
      const unique = [...firsts.values()].map((row) => placed.get(row)!);
      const lane = laneOf(evaluator.scoring_type, evaluator.external_config?.adapter ?? null);
      const stored = await insertJudgments(tx, evaluator, lane, unique, new Date(clock.now()));
      const existing = stored.size === placed.size ? stored : await findExisting(tx, evaluator, unique);
      for (const [row, one] of placed) {
        const isStored = stored.has(nameOf(one)) && firsts.get(nameOf(one)) === row;
        const evaluationId = existing.get(nameOf(one)) ?? null;
        row.result = outcome(row.shape!.requestId, isStored ? 'stored' : 'duplicate', { evaluationId });
      }
    });
    return countOf(rows.map(({ result }) => result!));
  };
}
