import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import { type Found, groupsOf, periodMaker, seriesOf } from './answer.ts';
import { type CellRow, cellsStatement, type Group } from './cells.ts';
import { groupsByQuantile, type QuantileRow, quantilesOf, quantilesStatement } from './quantiles.ts';
import { type MetricsQuery, type Period, readMetricsQuery } from './read-query.ts';

/**
 * Answers a query for metrics.
 * @param tx a transaction of the organization that reads one moment: `inOrganization` with `isSnapshot`
 * @param body fits its schema, `MetricsQueryBody`
 * @throws AssayError invalid_body, invalid_filter
 */
export async function runMetricsQuery(
  tx: TransactionSql,
  organizationId: string,
  body: MetricsQueryBody,
): Promise<MetricsAnswer> {
  const query = readMetricsQuery(body);
  const [clock] = await tx<[{ now: Date }]>`select now() as now`;
  const asOfMs = clock.now.getTime();
  const found = await find(
    tx,
    organizationId,
    query,
    query.period,
    await orderedGroups(tx, organizationId, query),
  );
  const groups = groupsOf(found.cells, query.groupBy.length);
  const before =
    query.previous === null ? null : await find(tx, organizationId, query, query.previous, groups);
  const make = periodMaker(query, quantilesOf(query.measures), asOfMs);
  const { range } = query.period;
  return {
    ...seriesOf(query, groups, make(found), before === null ? null : make(before)),
    bucket: query.unit,
    timeZone: query.timeZone,
    range: rangeJson(range),
    previousRange: query.previous === null ? null : rangeJson(query.previous.range),
    exact: true,
    error: null,
    source: 'rows',
    asOf: clock.now.toISOString(),
  };
}

const rangeJson = ({ fromMs, toMs }: Period['range']) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

/** Finds the groups that are shown where the order is that of a quantile; null: the cells say which. */
async function orderedGroups(
  tx: TransactionSql,
  organizationId: string,
  query: MetricsQuery,
): Promise<Group[] | null> {
  const { groupBy, measures, order } = query;
  if (groupBy.length === 0 || measures[order.measure]!.aggregate !== 'quantile') return null;
  const rows = await runStatement<Record<string, string | null>>(tx, groupsByQuantile(organizationId, query));
  return rows.map((row) => groupBy.map((_, index) => row[`g${index}`] ?? null));
}

/** Runs the statements of one period. Unless `groups` are given, the query's order says which are shown. */
async function find(
  tx: TransactionSql,
  organizationId: string,
  query: MetricsQuery,
  period: Period,
  groups: readonly Group[] | null,
): Promise<Found> {
  const { statement, nameOf } = cellsStatement(organizationId, query, period, groups);
  const cells = await runStatement<CellRow>(tx, statement);
  if (quantilesOf(query.measures).length === 0) return { period, cells, nameOf, quantiles: [] };
  const shown = groups ?? groupsOf(cells, query.groupBy.length);
  const quantiles = await runStatement<QuantileRow>(
    tx,
    quantilesStatement(organizationId, query, period, shown),
  );
  return { period, cells, nameOf, quantiles };
}
