/**
 * The statement of cells: the parts of measures by bucket and group, exact. Requests are summed up to the cells of all groups
 * first, and those then to totals, so that the groups that are not shown need no second look at the requests.
 */
import type { Statement } from '#core/filter/mod.ts';
import { isFlag, type Measure, type Metric, type Part, partsOf } from '#core/metrics/mod.ts';
import type { MetricsQuery, Period } from './read-query.ts';
import {
  bucketOf,
  type Draft,
  draftFor,
  groupColumns,
  groupJoins,
  keyOf,
  type Measured,
  measuredOf,
  requestCondition,
} from './requests.ts';

/** A group: a text or null for each grouping. */
export type Group = readonly (string | null)[];

/**
 * Parts of measures, as texts. `b` is the number of a bucket, null for all; `k` that of a group from 1, 0 for the groups that
 * are not shown, null for all together. Where `b` is null and `k` is above 0, g0, g1, … are the group. `n` counts requests.
 */
export type CellRow = { b: number | null; k: number | null; n: string | null } & Record<
  string,
  string | number | null
>;

/** A column of cells: a part of a metric. */
type Column = { readonly of: Measured; readonly part: Part; readonly name: string };

/** Returns the name of the column that holds a part of a metric. */
export type NameOf = (metric: Metric, part: Part) => string;

/** A statement of cells, with the names of its columns. */
export type Cells = { readonly statement: Statement; readonly nameOf: NameOf };

/** Selects the cells of a period. Unless `groups` are given, the query's order says which are shown. */
export function cellsStatement(
  organizationId: string,
  query: MetricsQuery,
  period: Period,
  groups: readonly Group[] | null,
): Cells {
  const draft = draftFor(organizationId);
  const { measures, groupBy } = query;
  const summed = measures.filter((measure) => partsOf(measure).length > 0);
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
  const cells = cellsOfRequests(query, period, { measured, columns }, draft);
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
    groups === null ? rankedGroups(query, names, nameOf, draft) : givenGroups(groups, names, draft);
  return statement(`
    with p as materialized (${cells}), shown as (${shown})
    ${select}
      from (select p.*, coalesce(t.k, 0) as k from p left join shown t on ${isSameGroup('p', 't', names)}) c
     group by grouping sets ((c.b, c.k), (c.k), (c.b), ())`);
}

/** How parts are summed up further. */
const SUM_OF: Readonly<Record<Part, string>> = { count: 'sum', sum: 'sum', min: 'min', max: 'max' };

function columnsOf(measures: readonly Measure[], measured: readonly Measured[]): Column[] {
  return measured.flatMap((of) => {
    const own = measures.filter(({ metric }) => keyOf(metric) === keyOf(of.metric));
    return [...new Set(own.flatMap(partsOf))].map((part) => ({ of, part, name: `${of.as}_${part}` }));
  });
}

function cellsOfRequests(
  query: MetricsQuery,
  period: Period,
  { measured, columns }: { measured: readonly Measured[]; columns: readonly Column[] },
  draft: Draft,
): string {
  const { groupBy } = query;
  const keys = [`${bucketOf('r.created_at', period, draft)} as b`, ...groupColumns(groupBy, draft)];
  const parts = columns.map(({ of, part, name }) =>
    part === 'sum' && isFlag(of.metric)
      ? `count(*) filter (where ${of.value}) as ${name}`
      : `${part}(${of.value}) as ${name}`,
  );
  const joins = [groupJoins(groupBy), ...measured.map(({ join }) => join)].join(' ');
  return `select ${[...keys, 'count(*) as n', ...parts].join(', ')} from assay.requests r ${joins}
    where ${requestCondition(query, period.range, draft)}
    group by ${keys.map((_, index) => index + 1).join(', ')}`;
}

/** Selects the first groups of cells `p`, in the query's order. */
function rankedGroups(query: MetricsQuery, names: readonly string[], nameOf: NameOf, draft: Draft): string {
  const { measure, direction } = query.order;
  const value = orderOf(query.measures[measure]!, nameOf);
  const ties = names.map((name) => `${name} nulls last`);
  return `select (row_number() over (order by ${[`${value} ${direction} nulls last`, ...ties].join(', ')}))::int4 as k, ${names.join(', ')}
    from p group by ${names.join(', ')} order by k limit ${draft.parameters.bind(query.limit, 'int8')}`;
}

function orderOf({ metric, aggregate }: Measure, nameOf: NameOf): string {
  if (metric.name === 'requests') return 'sum(n)';
  const sum = (part: Part) => `${SUM_OF[part]}(${nameOf(metric, part)})`;
  switch (aggregate) {
    case 'avg':
      return `${sum('sum')} / nullif(${sum('count')}, 0)`;
    case 'min':
    case 'max':
      return sum(aggregate);
    case 'count':
      return sum(partsOf({ metric, aggregate, share: 0 })[0]!);
    default:
      return `coalesce(${sum('sum')}, 0)`;
  }
}

/** Writes groups as rows: k, g0, g1, … */
export function givenGroups(
  groups: readonly Group[],
  names: readonly string[],
  { parameters }: Draft,
): string {
  // Without a row, `values` would not say its types.
  const none = `select 0 as k, ${names.map((name) => `null::text as ${name}`).join(', ')} where false`;
  const rows = groups.map(
    (group, index) =>
      `select ${index + 1}, ${group.map((value) => parameters.bind(value, 'text')).join(', ')}`,
  );
  return [none, ...rows].join(' union all ');
}

/** Writes whether two rows have the same group; null is the same as null. In this form the rows are joined by a hash. */
export function isSameGroup(one: string, other: string, names: readonly string[]): string {
  return names
    .map(
      (name) =>
        `coalesce(${one}.${name}, '') = coalesce(${other}.${name}, '') and (${one}.${name} is null) = (${other}.${name} is null)`,
    )
    .join(' and ');
}
