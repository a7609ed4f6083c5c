/** Checks the bodies of `/v1/request/query` and its kin, and makes them the queries that statements take. */

import { filterOf } from '#core/contracts/filter-or-q.ts';
import { DEFAULT_LIMIT, type QueryBody, type SortField } from '#core/contracts/query.ts';
import { type Filter, parseFilter } from '#core/filter/mod.ts';

export type Sort = { field: SortField; direction: 'asc' | 'desc' };

export type RequestQuery = {
  filter: Filter;
  /** Each restricts when true. */
  isCached: boolean;
  isPartOfExperiment: boolean;
  isScored: boolean;
  sort: Sort;
  limit: number;
  offset: number;
  includeInputs: boolean;
  includeExpected: boolean;
};

const DEFAULT_SORT: Sort = { field: 'created_at', direction: 'desc' };

/**
 * Returns a query with its filter parsed, by `parse`, and its defaults filled in.
 * @throws AssayError invalid_filter, invalid_body
 */
export function readQuery(body: QueryBody, parse: (filter: unknown) => Filter = parseFilter): RequestQuery {
  const [sort] = Object.entries(body.sort ?? {});
  return {
    filter: parse(filterOf(body)),
    isCached: body.isCached ?? false,
    isPartOfExperiment: body.isPartOfExperiment ?? false,
    isScored: body.isScored ?? false,
    sort: sort === undefined ? DEFAULT_SORT : { field: sort[0] as SortField, direction: sort[1] },
    limit: body.limit ?? DEFAULT_LIMIT,
    offset: body.offset ?? 0,
    includeInputs: body.includeInputs ?? false,
    includeExpected: body.includeExpected ?? false,
  };
}
