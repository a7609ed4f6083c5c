/** What a query asks for, checked: the body of `/v1/request/query` and its kin as the statements take it. */

import { parseWith } from '#core/contracts/check.ts';
import { DEFAULT_LIMIT, queryBodyChecker, type SortField } from '#core/contracts/query.ts';
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
};

const DEFAULT_SORT: Sort = { field: 'created_at', direction: 'desc' };

/**
 * Reads a query's body.
 * @throws AssayError invalid_body, invalid_filter
 */
export function readQuery(value: unknown): RequestQuery {
  const body = parseWith(queryBodyChecker, value);
  const [sort] = Object.entries(body.sort ?? {});
  return {
    filter: parseFilter(body.filter),
    isCached: body.isCached ?? false,
    isPartOfExperiment: body.isPartOfExperiment ?? false,
    isScored: body.isScored ?? false,
    sort: sort === undefined ? DEFAULT_SORT : { field: sort[0] as SortField, direction: sort[1] },
    limit: body.limit ?? DEFAULT_LIMIT,
    offset: body.offset ?? 0,
    includeInputs: body.includeInputs ?? false,
  };
}
