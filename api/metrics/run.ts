/** Runs a query for metrics: plans it, reads roll-ups or rows, and makes the answer. */
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import { RELATIVE_ERROR } from '#core/rollups/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import { type Found, groupsOf, periodMaker, seriesOf } from './answer.ts';
import { type CellRow, cellsStatement } from './cells.ts';
import type { Group } from './groups.ts';
import { type HistogramRow, histogramsStatement, quantilesOfHistograms } from './histograms.ts';
import { type Plan, planOf } from './plan.ts';
import { groupsByQuantile, type QuantileRow, quantilesOf, quantilesStatement } from './quantiles.ts';
import { type MetricsQuery, type Period, readMetricsQuery } from './read-query.ts';
import type { Sources } from './rollup-cells.ts';
import { findSources } from './sources.ts';
import { canRankByLists } from './top-values.ts';

/** Sources that an answer may use: the cheapest that has it, or rows alone. */
export type Engine = 'any' | 'rows';

/**
 * Answers a query for metrics.
 * @param tx a transaction of the organization that reads one snapshot: `inOrganization` with `isSnapshot`
 * @param body fits its schema, `MetricsQueryBody`
 * @param given the groups to show, in their order, also those without requests; null: the query's order decides
 * @throws AssayError invalid_body, invalid_filter
 */
export async function runMetricsQuery(
  tx: TransactionSql,
  organizationId: string,
  body: MetricsQueryBody,
  engine: Engine = 'any',
  given: readonly Group[] | null = null,
): Promise<MetricsAnswer> {
  const query = readMetricsQuery(body);
  const [clock] = await tx<[{ now: Date }]>`select now() as now`;
  const run = new Run(
    tx,
    organizationId,
    query,
    engine === 'rows' ? null : planOf(query),
    clock.now.getTime(),
  );
  const now = await run.find(query.period, given ?? (await run.groupsByQuantile()));
  const groups = given ?? groupsOf(now.cells, query.groupBy.length);
  const before = query.previous === null ? null : await run.find(query.previous, groups);
  const make = periodMaker(query, quantilesOf(query.measures), clock.now.getTime());
  return {
    ...seriesOf(query, groups, make(now), before === null ? null : make(before)),
    bucket: query.unit,
    timeZone: query.timeZone,
    range: rangeJson(query.period),
    previousRange: query.previous === null ? null : rangeJson(query.previous),
    exact: !run.isEstimated,
    error: run.isEstimated ? RELATIVE_ERROR : null,
    source: run.source,
    asOf: new Date(run.asOfMs).toISOString(),
  };
}

const rangeJson = ({ range: { fromMs, toMs } }: Period) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

/** Up to this many requests, quantiles are exact: reading their rows takes some 10 ms. */
const FEW_REQUESTS = 5_000;

/** The statements of one query. */
class Run {
  readonly #tx: TransactionSql;
  readonly #organizationId: string;
  readonly #query: MetricsQuery;
  readonly #plan: Plan | null;
  source: 'rows' | 'rollup' = 'rows';
  /** Whether a quantile came from a histogram. */
  isEstimated = false;
  /** All changes that were committed before this time are in the answer. */
  asOfMs: number;

  constructor(
    tx: TransactionSql,
    organizationId: string,
    query: MetricsQuery,
    plan: Plan | null,
    nowMs: number,
  ) {
    this.#tx = tx;
    this.#organizationId = organizationId;
    this.#query = query;
    this.#plan = plan;
    this.asOfMs = nowMs;
  }

  /** Finds the groups to show when a quantile orders them; null: the cells decide. */
  async groupsByQuantile(): Promise<Group[] | null> {
    const { groupBy, measures, order } = this.#query;
    if (groupBy.length === 0 || measures[order.measure]!.aggregate !== 'quantile') return null;
    const rows = await runStatement<Record<string, string | null>>(
      this.#tx,
      groupsByQuantile(this.#organizationId, this.#query),
    );
    return rows.map((row) => groupBy.map((_, index) => row[`g${index}`] ?? null));
  }

  /** Reads one period. Unless `groups` are given, the query's order decides which are shown. */
  async find(period: Period, groups: readonly Group[] | null): Promise<Found> {
    const query = this.#query;
    const sources = await this.#sources(period);
    if (sources !== null) this.source = 'rollup';
    const { cells, nameOf } = await this.#cells(period, groups, sources);
    const shown = groups ?? groupsOf(cells, query.groupBy.length);
    const total = Number(cells.find(({ b, k }) => b === null && k === null)?.n ?? 0);
    const isExact = sources === null || total <= FEW_REQUESTS;
    const quantiles = await this.#quantiles(period, shown, isExact ? null : sources);
    return { period, cells, nameOf, quantiles };
  }

  async #cells(
    period: Period,
    groups: readonly Group[] | null,
    sources: Sources,
  ): Promise<Pick<Found, 'cells' | 'nameOf'>> {
    const query = this.#query;
    const read = async (isByLists: boolean) => {
      const { statement, nameOf } = cellsStatement(
        this.#organizationId,
        query,
        period,
        groups,
        sources,
        isByLists,
      );
      return { cells: await runStatement<CellRow>(this.#tx, statement), nameOf };
    };
    if (sources !== null && sources.plan.values !== null && canRankByLists(query, sources.values, groups)) {
      const found = await read(true);
      if (found.cells.some(({ n }) => n !== null)) return found;
    }
    return read(false);
  }

  async #quantiles(period: Period, groups: readonly Group[], sources: Sources): Promise<QuantileRow[]> {
    const query = this.#query;
    if (quantilesOf(query.measures).length === 0) return [];
    if (sources === null) {
      const exact = quantilesStatement(this.#organizationId, query, period, groups);
      return runStatement<QuantileRow>(this.#tx, exact);
    }
    this.isEstimated = true;
    const statement = histogramsStatement(this.#organizationId, query, period, groups, sources);
    return quantilesOfHistograms(query, await runStatement<HistogramRow>(this.#tx, statement));
  }

  /** Returns the sources of a period; null: rows alone. */
  async #sources(period: Period): Promise<Sources> {
    if (this.#plan === null) return null;
    const found = await findSources(this.#tx, this.#organizationId, this.#plan, period);
    if (found === null) return null;
    this.asOfMs = Math.min(this.asOfMs, found.asOfMs);
    return found.sources;
  }
}
