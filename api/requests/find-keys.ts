import { Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { idTimeMs } from './id-time.ts';
import { runStatement } from './statement.ts';

/** The key of a request in the store. */
export type RequestKey = { created_at: Date; request_id: string };

/** Writes the condition that a row is the one with this key: of one partition, whatever the number of weeks. */
export function keyCondition(parameters: Parameters, organizationId: string, key: RequestKey): string {
  return (
    `organization_id = ${parameters.bind(organizationId, 'uuid')} ` +
    `and created_at = ${parameters.bind(key.created_at.toISOString(), 'timestamptz')} ` +
    `and request_id = ${parameters.bind(key.request_id, 'text')}`
  );
}

/** Times between which to look; null: at all times. */
type Span = { fromMs: number; toMs: number } | null;

/** Selects the keys of the requests with these ids, the newest first. To plan it over all weeks takes longer than to run it. */
function keysOfIdsStatement(organizationId: string, requestIds: readonly string[], span: Span): Statement {
  const parameters = new Parameters();
  const at = (ms: number) => parameters.bind(new Date(ms).toISOString(), 'timestamptz');
  const text =
    `select created_at, request_id from assay.requests where organization_id = ${parameters.bind(organizationId, 'uuid')} ` +
    `and request_id = any(${parameters.bind(requestIds, 'text[]')}) ` +
    `${span === null ? '' : `and created_at between ${at(span.fromMs)} and ${at(span.toMs)} `}order by created_at desc`;
  return { text, values: parameters.values, isPlannedOnce: span === null };
}

const DAY_MS = 86_400_000;
/** Ids that the gateway makes hold a time of these years. Others may hold any, up to one that no date can name. */
const PLAUSIBLE = { fromMs: Date.UTC(2020), toMs: Date.UTC(2100) };

/** Returns the ids that hold a time, and the days around these times. */
function spanOf(requestIds: readonly string[]): { dated: string[]; span: Span } {
  const dated: string[] = [];
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const id of requestIds) {
    const ms = idTimeMs(id);
    if (ms === null || ms < PLAUSIBLE.fromMs || ms > PLAUSIBLE.toMs) continue;
    dated.push(id);
    fromMs = Math.min(fromMs, ms - DAY_MS);
    toMs = Math.max(toMs, ms + DAY_MS);
  }
  return { dated, span: { fromMs, toMs } };
}

/**
 * Finds the keys of those ids that the organization has, each once, in the order of the ids. Looks first in the days that the ids
 * tell, and only for what is not there in all weeks: each is a partition, of which seven years make a look take 0.2 s.
 */
export async function findKeysOfIds(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<RequestKey[]> {
  const wanted = [...new Set(requestIds)];
  const byId = new Map<string, RequestKey>();
  const look = async (ids: readonly string[], span: Span) => {
    if (ids.length === 0) return;
    const found = await runStatement<RequestKey>(tx, keysOfIdsStatement(organizationId, ids, span));
    for (const key of found) if (!byId.has(key.request_id)) byId.set(key.request_id, key);
  };
  const { dated, span } = spanOf(wanted);
  await look(dated, span);
  await look(
    wanted.filter((id) => !byId.has(id)),
    null,
  );
  return wanted.flatMap((requestId) => byId.get(requestId) ?? []);
}

/** Finds the key of a request; null: the organization has no such request. */
export async function findKey(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<RequestKey | null> {
  const [key] = await findKeysOfIds(tx, organizationId, [requestId]);
  return key ?? null;
}
