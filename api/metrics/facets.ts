/** Values of a field with the number of requests that have each, under a filter. */
import { DEFAULT_FACETS, type Facets, type FacetsBody } from '#core/contracts/facets.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { compileFilter, containing, type KeySource, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { hasManyCells } from '#platform/rollups/mod.ts';
import { findShortSource, fromFound, readQuery, runStatement } from '../requests/mod.ts';
import { planOf } from './plan.ts';
import { type MetricsQuery, readMetricsQuery } from './read-query.ts';
import { type Draft, draftFor, groupColumns, insideRange } from './requests.ts';
import { cellsOfRollups, type Sources } from './rollup-cells.ts';
import { type FoundSources, findSources } from './sources.ts';

/** Newest requests that are read when no roll-up has the field and the filter: reading them takes some 40 ms. */
const NEWEST_REQUESTS = 20_000;
/** Maximum cells of users or a property's values that are added up, which takes 40 ms. A year of 30 values a day has 11,000. */
const MAX_CELLS = 12_000;
/** Requests are stored from 2020 on, and up to a month ahead. */
const ALL_TIMES = { from: '2020-01-01', to: '2099-12-31' };

type FacetRow = { value: string | null; count: number };
type Search = { text: string; limit: number };

/**
 * Lists the values of a field.
 * @param tx a transaction of the organization that reads one snapshot
 * @throws AssayError invalid_body, invalid_filter
 */
export async function findFacets(
  tx: TransactionSql,
  organizationId: string,
  body: FacetsBody,
): Promise<Facets> {
  const { field, search: text = '', limit = DEFAULT_FACETS, range = ALL_TIMES } = body;
  const filter = filterOf(body, { otherwise: 'all' });
  const query = readMetricsQuery({
    measures: [{ metric: 'requests', aggregate: 'count' }],
    groupBy: [field],
    filter,
    range,
    bucket: 'none',
    limit,
    ...(body.sources === undefined ? {} : { sources: body.sources }),
  });
  const search = { text: storableText(text), limit };
  const answer = (rows: readonly FacetRow[], rest: Omit<Facets, 'values'>): Facets => ({
    values: rows.map(({ value, count }) => ({
      value: field === 'status' && value !== null ? Number(value) : value,
      count,
    })),
    ...rest,
  });

  const plan = planOf(query);
  const found = plan === null ? null : await findSources(tx, organizationId, plan, query.period);
  if (found !== null && !(await isSlowToSum(tx, organizationId, found))) {
    const statement = sumsStatement(organizationId, query, found.sources, search);
    const asOf = new Date(found.asOfMs).toISOString();
    return answer(await runStatement(tx, statement), { approximate: false, source: 'rollup', asOf });
  }
  const [clock] = await tx<[{ now: Date }]>`select now() as now`;
  const asOf = clock.now.toISOString();
  const source = query.sources.includes('evaluator')
    ? null
    : await findShortSource(tx, organizationId, readQuery({ filter }));
  if (source !== null) {
    const rows = await runStatement<FacetRow>(tx, listedStatement(organizationId, query, source, search));
    return answer(rows, { approximate: false, source: 'rows', asOf });
  }
  const rows = await runStatement<FacetRow>(tx, newestStatement(organizationId, query, search));
  const [older] = await runStatement(tx, olderStatement(organizationId, query));
  return answer(rows, { approximate: older !== undefined, source: 'rows', asOf });
}

/** Returns whether adding up the cells would take long: there may be nearly as many cells of users as requests. */
async function isSlowToSum(
  tx: TransactionSql,
  organizationId: string,
  { sources: { plan, values } }: FoundSources,
): Promise<boolean> {
  if (plan.values === null) return false;
  const { parameters, organization } = draftFor(organizationId);
  const isMany = hasManyCells(plan.values, values, organization, parameters, MAX_CELLS);
  const statement = { text: `select ${isMany} as "isMany"`, values: parameters.values };
  const [row] = await runStatement<{ isMany: boolean }>(tx, statement);
  return row!.isMany;
}

/** Writes the end of a statement whose rows `p` have a value g0 and count n. */
function ordered({ text, limit }: Search, { parameters }: Draft): string {
  const pattern = () => parameters.bind(containing(text), 'text');
  const found = text === '' ? 'true' : `p.g0 collate "default" ilike ${pattern()}`;
  return `where ${found} group by p.g0 having sum(p.n) > 0 order by 2 desc, p.g0 nulls last limit ${parameters.bind(limit, 'int8')}`;
}

const SELECT = 'select p.g0 as value, sum(p.n)::float8 as count';

function sumsStatement(
  organizationId: string,
  query: MetricsQuery,
  sources: NonNullable<Sources>,
  search: Search,
): Statement {
  const draft = draftFor(organizationId);
  const context = { query, period: query.period, measured: [], columns: [], draft };
  const cells = cellsOfRollups(context, sources);
  return { text: `${SELECT} from (${cells}) p ${ordered(search, draft)}`, values: draft.parameters.values };
}

/** Writes the condition of a query's sources and range on a request `r`. */
function insideCondition(query: MetricsQuery, draft: Draft): string {
  const { parameters, organization } = draft;
  return `r.organization_id = ${organization} and ${insideRange(query.period.range, draft)}
    and r.source = any(${parameters.bind(query.sources, 'text[]')})`;
}

/** Counts the values of the few requests that a source lists. */
function listedStatement(
  organizationId: string,
  query: MetricsQuery,
  source: KeySource,
  search: Search,
): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const found = { ...readQuery({ filter: 'all' }), filter: query.filter };
  const from = fromFound(found, source, { organization, parameters, columns: 'r.*', joins: false });
  const values = `select ${groupColumns(query.groupBy, draft)[0]}, 1 as n from (select r.* ${from}) r
    where ${insideCondition(query, draft)}`;
  return { text: `${SELECT} from (${values}) p ${ordered(search, draft)}`, values: parameters.values };
}

/** Counts the values among those of the newest requests that pass the filter. */
function newestStatement(organizationId: string, query: MetricsQuery, search: Search): Statement {
  const draft = draftFor(organizationId);
  const { parameters } = draft;
  const values = `select ${groupColumns(query.groupBy, draft)[0]}, 1 as n from (
      select r.* from assay.requests r where ${insideCondition(query, draft)}
       order by r.created_at desc, r.request_id desc limit ${NEWEST_REQUESTS}) r
    where ${compileFilter(query.filter, parameters, { joins: false })}`;
  return { text: `${SELECT} from (${values}) p ${ordered(search, draft)}`, values: parameters.values };
}

/** Selects one request older than the newest ones; no row when there is none. */
function olderStatement(organizationId: string, query: MetricsQuery): Statement {
  const draft = draftFor(organizationId);
  const text = `select from assay.requests r where ${insideCondition(query, draft)}
    order by r.created_at desc, r.request_id desc offset ${NEWEST_REQUESTS} limit 1`;
  return { text, values: draft.parameters.values };
}
