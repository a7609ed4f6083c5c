/** The key sources (core/filter) that a query reads its requests from when Postgres would choose badly. */
import {
  alternativesOf,
  alternativesSource,
  alternativesToWalk,
  boundOf,
  type Filter,
  type KeySource,
  keySource,
  keySourcesOf,
  type Listing,
  Parameters,
  propertyToWalk,
  type Statement,
} from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { RequestQuery } from './query.ts';
import { runStatement } from './statement.ts';

/** Counting more of them costs time and hardly ever finds a shorter one. */
const MAX_SOURCES = 4;
const FEW_SCORED = 1_000;

function scoredRequests(filter: Filter): KeySource {
  return {
    yields: 'keys',
    rest: filter,
    few: FEW_SCORED,
    compile: (listing) =>
      `select s.created_at, s.request_id from assay.request_scores s where s.organization_id = ${listing.organization}` +
      `${boundOf(listing, 's')} group by s.created_at, s.request_id ` +
      `order by s.created_at ${listing.direction}, s.request_id ${listing.direction} ${listing.tail}`,
  };
}

function sourcesOf({ filter, isScored }: RequestQuery): KeySource[] {
  const sources = keySourcesOf(filter).map((leaf) => keySource(filter, leaf));
  const alternatives = alternativesOf(filter);
  if (alternatives !== null) sources.unshift(alternativesSource(filter, alternatives));
  if (isScored) sources.unshift(scoredRequests(filter));
  return sources.slice(0, MAX_SOURCES);
}

/** Counts the requests of each source, up to the length at which it is no longer short: one row, columns c0, c1, … */
function countSourcesStatement(organizationId: string, sources: readonly KeySource[]): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const counts = sources.map((source, index) => {
    const listing: Listing = { parameters, organization, tail: `limit ${source.few + 1}`, direction: 'desc' };
    return `(select count(*) from (${source.compile(listing)}) k)::int4 as c${index}`;
  });
  return { text: `select ${counts.join(', ')}`, values: parameters.values };
}

/** Returns the shortest source of a query; null when none is short. */
export async function findShortSource(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
): Promise<KeySource | null> {
  const sources = sourcesOf(query);
  if (sources.length === 0) return null;
  const [row] = await runStatement<Record<string, number>>(
    tx,
    countSourcesStatement(organizationId, sources),
  );
  let shortest: KeySource | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  sources.forEach((source, index) => {
    const count = row?.[`c${index}`] ?? Number.POSITIVE_INFINITY;
    if (count > source.few || count >= fewest) return;
    shortest = source;
    fewest = count;
  });
  return shortest;
}

/** Returns a source in the order of a query's sort, for a long result; null where Postgres chooses well. */
export function findOrderedSource({ filter, sort, isScored }: RequestQuery): KeySource | null {
  if (sort.field !== 'created_at') return null;
  const property = propertyToWalk(filter);
  if (property !== null) return keySource(filter, property);
  if (isScored) return scoredRequests(filter);
  const alternatives = alternativesToWalk(filter);
  return alternatives === null ? null : alternativesSource(filter, alternatives);
}

/** Returns a list of keys that a count may stop in, whatever its length; null where Postgres chooses well. */
export function findCountedSource({ filter, isScored }: RequestQuery): KeySource | null {
  const leaf = keySourcesOf(filter).find(({ field }) => field.kind === 'score') ?? propertyToWalk(filter);
  if (leaf !== null) return keySource(filter, leaf);
  return isScored ? scoredRequests(filter) : null;
}
