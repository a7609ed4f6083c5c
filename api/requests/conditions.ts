import {
  type CompileOptions,
  compileFilter,
  type Filter,
  type KeySource,
  type Listing,
  type Parameters,
} from '#core/filter/mod.ts';
import type { RequestQuery, Sort } from './query.ts';

const SCORES_OF_REQUEST =
  'from assay.request_scores s where s.organization_id = r.organization_id ' +
  'and s.created_at = r.created_at and s.request_id = r.request_id';

/** The part of a query that says which requests it finds. */
export type RequestCondition = Pick<RequestQuery, 'filter' | 'isCached' | 'isPartOfExperiment' | 'isScored'>;

/**
 * Returns the condition on a row `r` that a query finds. It names the organization itself, in addition to row-level
 * security, and leaves out the calls that evaluators make.
 *
 * @param organization the organization's placeholder
 */
export function conditionOf(
  query: RequestCondition,
  organization: string,
  parameters: Parameters,
  options: CompileOptions,
): string {
  const conditions = [`r.organization_id = ${organization}`, `r.source <> 'evaluator'`];
  if (query.isCached) conditions.push('r.cached_from is not null');
  if (query.isPartOfExperiment) conditions.push('r.experiment_id is not null');
  if (query.isScored) {
    conditions.push(
      options.joins ? `exists (select ${SCORES_OF_REQUEST})` : `(select true ${SCORES_OF_REQUEST} limit 1)`,
    );
  }
  conditions.push(compileFilter(query.filter, parameters, options));
  return conditions.join(' and ');
}

/** Options for reading the requests of a query. */
type ReadOptions = CompileOptions & {
  organization: string;
  parameters: Parameters;
  /** Columns of `r` to select when the keys come from a source `k`. */
  columns: string;
  /** More conditions on `r`. Default: none. */
  also?: readonly string[];
  /** Direction of a source in the order of time. Default: the sort's. */
  direction?: Sort['direction'];
  /** Condition that narrows a source, and holds for `r`, too. Default: none. */
  bound?: Listing['bound'];
};

/**
 * Returns the FROM clause of the requests `r` that a query finds. Where they are looked up by the keys of a source, those
 * are `k`; `offset 0` fences both sides, so that each key is looked up, one after the other, whatever Postgres estimates.
 *
 * @param source a list that all of them are in; null: all requests
 */
export function fromFound(query: RequestQuery, source: KeySource | null, options: ReadOptions): string {
  const {
    organization,
    parameters,
    columns,
    joins,
    also = [],
    direction = query.sort.direction,
    bound,
  } = options;
  const conditionWith = (filter: Filter, withJoins: boolean) =>
    [conditionOf({ ...query, filter }, organization, parameters, { joins: withJoins }), ...also].join(
      ' and ',
    );
  if (source === null) return `from assay.requests r where ${conditionWith(query.filter, joins)}`;
  const condition = conditionWith(source.rest, false);
  const listed = source.compile({
    parameters,
    organization,
    tail: 'offset 0',
    direction,
    ...(bound === undefined ? {} : { bound }),
  });
  if (source.yields === 'rows') return `from (${listed}) r where ${condition}`;
  return (
    `from (${listed}) k cross join lateral (select ${columns} from assay.requests r ` +
    `where r.created_at = k.created_at and r.request_id = k.request_id and ${condition} offset 0) r`
  );
}
