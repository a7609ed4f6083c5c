/**
 * The statement of cells: exact parts of measures by bucket and group. Requests are first aggregated into the cells of all
 * groups, and these into totals, so that the groups that are not shown need no second pass over the requests.
 */
import type { Statement } from '#core/filter/mod.ts';
import { expectedBy, type Measure, type Metric, type Part, partsOf } from '#core/metrics/mod.ts';
import { type Group, givenGroups, isSameGroup } from './groups.ts';
import type { MetricsQuery, Period } from './read-query.ts';
import { type Draft, draftFor, keyOf, type Measured, measuredOf } from './requests.ts';
import { cellsOfRollups, type Sources, topCellsOfRollups } from './rollup-cells.ts';
import { type CellContext, type Column, cellsOfRequests } from './row-cells.ts';

/**
 * Parts of measures, as text. `b`: number of the bucket, null for all buckets; `k`: number of the group from 1, 0 for the
 * groups that are not shown, null for all groups. Rows with a null `b` and a `k` above 0 have the group in g0, g1, … `n`:
 * number of requests.
 */
export type CellRow = { b: number | null; k: number | null; n: string | null } & Record<
  string,
  string | number | null
>;

/** Returns the name of the column that holds a part of a metric. */
export type NameOf = (metric: Metric, part: Part) => string;

/** A statement of cells, with the names of its columns. */
export type Cells = { readonly statement: Statement; readonly nameOf: NameOf };

/** Aggregate functions that combine parts. */
const SUM_OF: Readonly<Record<Part, string>> = { count: 'sum', sum: 'sum', min: 'min', max: 'max' };

/**
 * Selects the cells of a period. Unless `groups` are given, the query's order decides which are shown.
 * @param isByLists whether the groups are values whose cells are found by `topValueCells`
 */
export function cellsStatement(
  organizationId: string,
  query: MetricsQuery,
  period: Period,
  groups: readonly Group[] | null,
  sources: Sources,
  isByLists: boolean,
): Cells {
  const draft = draftFor(organizationId);
  const { measures, groupBy } = query;
  const expected = measures.flatMap((measure) => expectedBy(measure) ?? []);
  const summed = [...measures, ...expected].filter((measure) => partsOf(measure).length > 0);
  const measured = measuredOf(
    summed.map(({ metric }) => metric),
    draft,
  );
  const columns = columnsOf(summed, measured);
  const nameOf: NameOf = (metric, part) =>
    columns.find((one) => one.part === part && keyOf(one.of.metric) === keyOf(metric))!.name;
  const names = groupBy.map((_, index) => `g${index}`);
  const sums = columns.map(({ part, name }) => `${SUM_OF[part]}(c.${name})::text as ${name}`);
  const selected = ['c.b', 'c.k', ...names.map((name) => `min(c.${name}) as ${name}`), 'sum(c.n)::text as n'];
  const select = `select ${[...selected, ...sums].join(', ')}`;
  const context = { query, period, measured, columns, draft };
  const cells = selectCells(context, sources, isByLists, groups);
  const statement = (text: string) => ({
    statement: { text, values: draft.parameters.values },
    nameOf,
  });
  if (names.length === 0) {
    return statement(
      `${select} from (select p.*, null::int4 as k from (${cells}) p) c group by grouping sets ((c.b), ()), c.k`,
    );
  }
  const shown =
    groups === null
      ? rankedGroups(query, names, nameOf, draft, isByLists)
      : givenGroups(groups, names, draft);
  const isSame = `${isSameGroup('p', 't', names)}${isByLists ? ' and not p.is_merged' : ''}`;
  return statement(`
    with p as materialized (${cells}), shown as (${shown})
    ${select}
      from (select p.*, coalesce(t.k, 0) as k from p left join shown t on ${isSame}) c
     group by grouping sets ((c.b, c.k), (c.k), (c.b), ())`);
}

function selectCells(
  context: CellContext,
  sources: Sources,
  isByLists: boolean,
  groups: readonly Group[] | null,
): string {
  if (sources === null) return cellsOfRequests(context, context.period.range, 'all');
  return isByLists ? topCellsOfRollups(context, sources, groups) : cellsOfRollups(context, sources);
}

function columnsOf(measures: readonly Measure[], measured: readonly Measured[]): Column[] {
  return measured.flatMap((of) => {
    const own = measures.filter(({ metric }) => keyOf(metric) === keyOf(of.metric));
    return [...new Set(own.flatMap(partsOf))].map((part) => ({ of, part, name: `${of.as}_${part}` }));
  });
}

/** Selects the first groups of cells `p`, in the query's order. */
function rankedGroups(
  query: MetricsQuery,
  names: readonly string[],
  nameOf: NameOf,
  draft: Draft,
  isByLists: boolean,
): string {
  const { measure, direction } = query.order;
  const value = orderOf(query.measures[measure]!, nameOf);
  const ties = names.map((name) => `${name} nulls last`);
  return `select (row_number() over (order by ${[`${value} ${direction} nulls last`, ...ties].join(', ')}))::int4 as k, ${names.join(', ')}
    from p ${isByLists ? 'where not is_merged' : ''} group by ${names.join(', ')} order by k limit ${draft.parameters.bind(query.limit, 'int8')}`;
}

function orderOf(measure: Measure, nameOf: NameOf): string {
  const { metric, aggregate } = measure;
  if (metric.name === 'requests') return 'sum(n)';
  const sum = (part: Part) => `${SUM_OF[part]}(${nameOf(metric, part)})`;
  // Roll-ups have nulls instead of zeros, which would come last in either direction.
  const orZero = (part: Part) => `coalesce(${sum(part)}, 0)`;
  switch (aggregate) {
    case 'avg':
      return `${orZero('sum')} / nullif(${sum('count')}, 0)`;
    case 'min':
    case 'max':
      return sum(aggregate);
    case 'count':
      return orZero(partsOf({ metric, aggregate, share: 0 })[0]!);
    default: {
      const expected = expectedBy(measure);
      if (expected === null) return orZero('sum');
      const isUnknown = `${orZero('count')} = 0 and coalesce(sum(${nameOf(expected.metric, 'count')}), 0) > 0`;
      return `case when not (${isUnknown}) then ${orZero('sum')} end`;
    }
  }
}
