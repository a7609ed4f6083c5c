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
 * @param segments of the family of values
 * @param all selects the cells of all requests, without groups
 */
export function valueCells(
  context: CellContext,
  values: ValueDimension,
  segments: readonly Segment[],
  all: string,
): string {
  const { query, period, columns, draft } = context;
  const { parameters, organization } = draft;
  const parts = columns.map(({ of, part, name }) => `${rollupPart(of.metric, part)} as ${name}`);
  const names = columns.map(({ name }) => name);
  const bucket = bucketOf('r.begins_at', period, draft);
  const selected = [`${bucket} as b`, 'r.value as g0', 'r.requests as n', ...parts].join(', ');
  const cells = cellsOfSegments({ table: 'rollup_values', ...values }, segments, organization, parameters);
  const ofBuckets = `select ${selected} from (select c.* from ${cells}) r
    where r.source = any(${parameters.bind(query.sources, 'text[]')})`;
  const ofRows = `select * from (${cellsOfRequests(context, segments, 'totals')}) p where p.g0 is not null`;
  const less = ['n', ...names].map((name) => `-v.${name}`).join(', ');
  const rest = ['b', 'null::text collate "C" as g0', 'n', ...names].join(', ');
  return `with valued as materialized ((${ofBuckets}) union all (${ofRows})),
    rest as materialized (
      select ${rest} from (${all}) a union all select v.b, null, ${less} from valued v)
    select * from valued
    union all select * from rest where (select sum(n) from rest) > 0`;
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
