/** Finds the requests that become the items of a review queue. */
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { MAX_ITEMS, type Source } from '#core/contracts/review.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { Parameters } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findDisagreements } from '../evaluators/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import {
  findKeysOfIds,
  findPageKeys,
  findShortSource,
  fromFound,
  type RequestKey,
  type RequestQuery,
  readQuery,
  runStatement,
} from '../requests/mod.ts';

type Sample = NonNullable<Source['sample']>;

/** A source that is known to be exactly one thing. */
export type ReadSource =
  | { kind: 'filter'; query: RequestQuery; sample: Sample | null }
  | { kind: 'ids'; requestIds: string[] }
  | { kind: 'disagreement'; evaluatorId: string; sample: Sample | null };

/**
 * Checks a source.
 * @throws AssayError invalid_body, invalid_filter; not_found for an evaluator's id that cannot be one
 */
export function readSource(source: Source): ReadSource {
  const { filter, q, requestIds, disagreement, sample = null } = source;
  const isFilter = filter !== undefined || q !== undefined;
  const given = [isFilter, requestIds !== undefined, disagreement !== undefined].filter(Boolean);
  if (given.length !== 1)
    throw invalidField(
      'source',
      'must have exactly one of a filter (filter or q), requestIds and disagreement',
    );
  if (requestIds !== undefined) {
    if (sample !== null) throw invalidField('source.sample', 'does not belong to requestIds');
    return { kind: 'ids', requestIds: requestIds.map(storableText) };
  }
  if (disagreement !== undefined) {
    const evaluatorId = readUuid('evaluator', disagreement.evaluatorId);
    return { kind: 'disagreement', evaluatorId, sample };
  }
  const query = readQuery({ filter: filterOf(source, { path: 'source.' }) });
  return { kind: 'filter', query: { ...query, limit: MAX_ITEMS + 1 }, sample };
}

/** Writes the place of a request in the order of a sample. */
const drawn = (seed: string, table: string) =>
  `sha256(convert_to(${seed} || ' ' || ${table}.request_id, 'UTF8'))`;

async function sampleOf(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
  { n, seed }: Sample,
): Promise<RequestKey[]> {
  const source = await findShortSource(tx, organizationId, query);
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const from = fromFound(query, source, {
    organization,
    parameters,
    columns: 'r.created_at, r.request_id',
    joins: true,
  });
  const text =
    `select r.created_at, r.request_id ${from} ` +
    `order by ${drawn(parameters.bind(String(seed), 'text'), 'r')} limit ${parameters.bind(n, 'int8')}`;
  return runStatement<RequestKey>(tx, { text, values: parameters.values });
}

async function ofIds(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<RequestKey[]> {
  const keys = await findKeysOfIds(tx, organizationId, requestIds);
  const found = new Set(keys.map(({ request_id }) => request_id));
  const missing = requestIds.find((id) => !found.has(id));
  if (missing !== undefined) throw unknown('request', missing);
  return keys;
}

/**
 * Finds the items of a queue, in the order in which people get them: the newest first, or as they were drawn or named.
 * @throws AssayError invalid_body when there is none or there are too many, not_found for an unknown request or evaluator
 */
export async function chooseItems(
  tx: TransactionSql,
  organizationId: string,
  source: ReadSource,
  criterionIds: readonly string[],
): Promise<RequestKey[]> {
  const find = () => {
    if (source.kind === 'ids') return ofIds(tx, organizationId, source.requestIds);
    if (source.kind === 'disagreement') {
      const { evaluatorId, sample } = source;
      const wanted = { criterionIds, seed: sample?.seed ?? null, limit: sample?.n ?? MAX_ITEMS + 1 };
      return findDisagreements(tx, organizationId, evaluatorId, wanted);
    }
    if (source.sample !== null) return sampleOf(tx, organizationId, source.query, source.sample);
    return findPageKeys(tx, organizationId, source.query);
  };
  const keys = await find();
  if (keys.length === 0) throw invalidField('source', 'must find a request, but finds none');
  if (keys.length <= MAX_ITEMS) return keys;
  throw invalidField('source', `must find at most ${MAX_ITEMS} requests, but finds more: add a sample`);
}
