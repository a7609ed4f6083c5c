/** Cells from requests. */
import { isFlag, type Part, type Range } from '#core/metrics/mod.ts';
import type { Segment } from '#core/rollups/mod.ts';
import { isScored } from './plan.ts';
import type { MetricsQuery, Period } from './read-query.ts';
import { bucketOf, type Draft, fromRequests, groupColumns, groupJoins, type Measured } from './requests.ts';

/** A column of cells: a part of a metric. */
export type Column = { readonly of: Measured; readonly part: Part; readonly name: string };

/** Inputs of a statement of cells. */
export type CellContext = {
  readonly query: MetricsQuery;
  readonly period: Period;
  readonly measured: readonly Measured[];
  readonly columns: readonly Column[];
  readonly draft: Draft;
};

/**
 * Selects the cells of requests: b, g0, …, n, and the columns.
 * @param time one range, or the segments of a plan; only its segments of rows are read
 * @param family `totals` or `scores`: the columns of the other one are null, and scores do not count requests
 */
export function cellsOfRequests(
  { query, period, measured, columns, draft }: CellContext,
  time: Range | readonly Segment[],
  family: 'all' | 'totals' | 'scores',
): string {
  const { groupBy } = query;
  const isRead = ({ metric }: Measured) => family === 'all' || isScored(metric) === (family === 'scores');
  const keys = [`${bucketOf('r.created_at', period, draft)} as b`, ...groupColumns(groupBy, draft)];
  const parts = columns.map(({ of, part, name }) => {
    if (!isRead(of)) return `null::numeric as ${name}`;
    if (part !== 'sum') return `${part}(${of.value}) as ${name}`;
    if (isFlag(of.metric)) return `count(*) filter (where ${of.value}) as ${name}`;
    // Scores are summed as numeric: sums of floating-point numbers depend on their order. Cast by way of text, as roll-ups do: a
    // direct cast would round to 15 digits.
    return `sum(${of.value}${of.metric.name === 'score' ? '::text::numeric' : ''}) as ${name}`;
  });
  const joins = [
    groupJoins(groupBy),
    ...measured.filter(isRead).map(({ join }) => join(!('fromMs' in time))),
  ].join(' ');
  const count = family === 'scores' ? '0' : 'count(*)';
  return `select ${[...keys, `${count} as n`, ...parts].join(', ')} ${fromRequests(query, time, draft, joins)}
    group by ${keys.map((_, index) => index + 1).join(', ')}`;
}
