/** Chooses the logged requests that become items: all that a filter passes, or a sample that a seed repeats. */
import type { FromRequestsBody, SkipReason } from '#core/contracts/dataset-sources.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import { Parameters } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findShortSource, fromFound, type RequestKey, readQuery, runStatement } from '../requests/mod.ts';

/** Requests in the order in which they are tried, and how many of the others cannot be used. */
export type Chosen = { keys: RequestKey[]; skipped: Map<SkipReason, number> };

/** The columns of `r` that the statements here read. */
const COLUMNS =
  'r.created_at, r.request_id, r.source, r.status, r.truncated, r.path, r.model, r.properties_folded';

/** Why a request `r` cannot become an item, as far as its record tells; null: it may. */
const REASON = `case
  when r.source = 'evaluator' then 'evaluator'
  when r.source = 'playground' then 'playground'
  when r.source = 'experiment' then 'experiment'
  when r.status < 200 or r.status >= 300 then 'failed'
  when r.truncated then 'truncated'
  when r.path <> '' and r.path not like '%/chat/completions' then 'other_endpoint'
end`;

type Candidate = RequestKey & { reason: SkipReason | null };

/** Finds requests by their ids, in the order of the ids. */
export async function chooseByIds(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<Chosen> {
  const wanted = [...new Set(requestIds.map(storableText))];
  const rows = await tx<Candidate[]>`
    select distinct on (request_id) created_at, request_id, ${tx.unsafe(REASON)} as reason from assay.requests r
     where organization_id = ${organizationId} and request_id = any(${wanted}::text[])
     order by request_id, created_at desc`;
  const byId = new Map(rows.map((row) => [row.request_id, row]));
  const keys: RequestKey[] = [];
  const skipped = new Map<SkipReason, number>();
  for (const id of wanted) {
    const row = byId.get(id);
    const reason = row === undefined ? 'not_found' : row.reason;
    if (reason === null) keys.push(row!);
    else skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  return { keys, skipped };
}

/**
 * Finds requests that pass a filter: the first of them by time, or by their points, which are hashes of the seed and their
 * ids as in core/scoring/sampling.ts.
 * @param limit of the keys
 */
export async function chooseByFilter(
  tx: TransactionSql,
  organizationId: string,
  { filter, q, sample }: FromRequestsBody,
  limit: number,
): Promise<Chosen> {
  const query = readQuery({ ...(filter === undefined ? {} : { filter }), ...(q === undefined ? {} : { q }) });
  const source = await findShortSource(tx, organizationId, query);
  const run = async <Row extends object>(write: (from: string, parameters: Parameters) => string) => {
    const parameters = new Parameters();
    const organization = parameters.bind(organizationId, 'uuid');
    const from = fromFound(query, source, { organization, parameters, columns: COLUMNS, joins: true });
    return runStatement<Row>(tx, { text: write(from, parameters), values: parameters.values });
  };
  const counts = await run<{ reason: SkipReason | null; count: number }>(
    (from) => `select ${REASON} as reason, count(*)::int4 as count ${from} group by 1`,
  );
  const keys = await run<RequestKey>((from, parameters) => {
    const candidates = `select ${COLUMNS}, ${REASON} as reason ${from}`;
    const order = sample === undefined ? 'created_at, request_id' : orderOf(sample, parameters);
    return `select created_at, request_id from (${candidates}) r where reason is null order by ${order}
            limit ${parameters.bind(limit, 'int8')}`;
  });
  const skipped = counts.flatMap(({ reason, count }) => (reason === null ? [] : [[reason, count] as const]));
  return { keys, skipped: new Map(skipped) };
}

/**
 * Orders requests so that the first n are a sample. Within a stratum by their points; strata are mixed by the share of each
 * that comes before, so that the first n hold of each its share of n.
 */
function orderOf(
  { seed, stratifyBy }: NonNullable<FromRequestsBody['sample']>,
  parameters: Parameters,
): string {
  const sampler = parameters.bind(String(seed), 'text');
  const digest = `sha256(convert_to(${sampler}, 'UTF8') || '\\x00'::bytea || convert_to(request_id, 'UTF8'))`;
  const point = `('x' || left(encode(${digest}, 'hex'), 12))::bit(48)::int8`;
  if (stratifyBy === undefined) return `${point}, request_id`;
  const stratum =
    stratifyBy === 'model'
      ? 'model'
      : `(properties_folded ->> ${parameters.bind(foldName(stratifyBy), 'text')})`;
  const within = `row_number() over (partition by ${stratum} order by ${point}, request_id)`;
  return `(${within} - 0.5) / count(*) over (partition by ${stratum}), ${point}, request_id`;
}
