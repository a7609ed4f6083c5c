/**
 * Cells of users, or of a property's values. Roll-ups only have the requests with a value; those without one are all requests
 * minus these.
 */
import type { Statement } from '#core/filter/mod.ts';
import type { Segment } from '#core/rollups/mod.ts';
import { cellsOfSegments, hasOthers, type ValueDimension } from '#platform/rollups/mod.ts';
import { rollupPart } from './plan.ts';
import { bucketOf, draftFor } from './requests.ts';
import { type CellContext, cellsOfRequests } from './row-cells.ts';

/**
 * Selects the cells of a period, as `cellsOfRollups` does.
 * @param each selects the cells of `cellsOfEachValue`
 * @param all selects the cells of all requests, without groups
 */
export function valueCells(context: CellContext, each: string, all: string): string {
  const names = ['n', ...context.columns.map(({ name }) => name)];
  const negated = names.map((name) => `-v.${name}`).join(', ');
  const rest = ['b', 'null::text collate "C" as g0', ...names].join(', ');
  const sums = names.map((name) => `sum(${name}) as ${name}`).join(', ');
  // Summed up before they are kept: they are read three times, and each value has a cell in every bucket.
  return `with valued as materialized (
      select b, g0, ${sums} from (${each}) v group by b, g0 having sum(n) > 0),
    rest as materialized (
      select ${rest} from (${all}) a union all select v.b, null, ${negated} from valued v)
    select * from valued
    union all select * from rest where (select sum(n) from rest) > 0`;
}

/**
 * Selects the cells of the requests that have a value, by segment.
 * @param segments of the family of values
 * @param subtracted segments of rows, whose cells are negative
 */
export function cellsOfEachValue(
  context: CellContext,
  values: ValueDimension,
  segments: readonly Segment[],
  subtracted: readonly Segment[],
): string {
  const { query, period, columns, draft } = context;
  const { parameters, organization } = draft;
  const parts = columns.map(({ of, part, name }) => `${rollupPart(of.metric, part)} as ${name}`);
  const bucket = bucketOf('r.begins_at', period, draft);
  const selected = [`${bucket} as b`, 'r.value as g0', 'r.requests as n', ...parts].join(', ');
  const cells = cellsOfSegments({ table: 'rollup_values', ...values }, segments, organization, parameters);
  const ofBuckets = `select ${selected} from (select c.* from ${cells}) r
    where r.source = any(${parameters.bind(query.sources, 'text[]')})`;
  const ofRows = (rows: readonly Segment[], selected: string) =>
    rows.some(({ grainSeconds }) => grainSeconds === 'rows')
      ? [`select ${selected} from (${cellsOfRequests(context, rows, 'totals')}) p where p.g0 is not null`]
      : [];
  const negative = ['p.b', 'p.g0', ...['n', ...columns.map(({ name }) => name)].map((name) => `-p.${name}`)];
  return [ofBuckets, ...ofRows(segments, 'p.*'), ...ofRows(subtracted, negative.join(', '))]
    .map((select) => `(${select})`)
    .join(' union all ');
}

/** Selects whether some buckets have values that were merged as others: then not every value's sum is known. */
export function othersStatement(
  organizationId: string,
  values: ValueDimension,
  segments: readonly Segment[],
): Statement {
  const { parameters, organization } = draftFor(organizationId);
  const condition = hasOthers(values, segments, organization, parameters);
  return { text: `select ${condition} as "hasOthers"`, values: parameters.values };
}
