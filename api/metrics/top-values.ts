/**
 * Cells of the users, or the values of a property, with the most requests, without adding up all of them: there may be nearly as
 * many cells of users as requests.
 *
 * Each day and source has a list of its values by their requests, of which the first are read. A value that is not among them has
 * at most as many requests there as the last one that was read. So all values whose sum may be among the first are known; they
 * are looked up in all days, and the first of them are exact. What is shorter than a day is added up for all values. As in Fagin,
 * Lotem and Naor, "Optimal aggregation algorithms for middleware" (PODS 2001).
 *
 * All other values together are the sum of all values, which each day has as a cell, minus those that were looked up.
 */
import type { Segment } from '#core/rollups/mod.ts';
import { daysOfSegments, isOfDays, type ValueDimension, valueCellsOfDay } from '#platform/rollups/mod.ts';
import { type Group, givenGroups } from './groups.ts';
import { rollupPart } from './plan.ts';
import type { MetricsQuery } from './read-query.ts';
import { bucketOf } from './requests.ts';
import type { CellContext } from './row-cells.ts';

/** The most groups of which an answer is made this way. */
const MOST_GROUPS = 100;
/** Values that are read of a list for each group. With fewer, the last one bounds the others too loosely. */
const HEAD = 8;
const LEAST_HEAD = 50;
/** The most values that are looked up: with more, adding up all values takes no longer. */
const MOST_CANDIDATES = 1_000;

/** Returns whether the first groups of a query may be found this way. Unless `groups` are given, requests must order them. */
export function canRankByLists(
  { order, measures, limit }: MetricsQuery,
  segments: readonly Segment[],
  groups: readonly Group[] | null,
): boolean {
  if (!segments.some(isOfDays)) return false;
  if (limit > MOST_GROUPS) return false;
  if (groups !== null) return true;
  const { metric, aggregate } = measures[order.measure]!;
  return order.direction === 'desc' && metric.name === 'requests' && aggregate === 'count';
}

/**
 * Selects the cells of a period: b, g0, n, the columns, and `is_merged`: the cell is that of many values. Selects no row
 * when the lists do not determine the first values, or there are no requests.
 * @param groups the groups to be shown; null: those with the most requests
 * @param all selects the cells of all requests, without groups
 * @param fine selects the cells of all values in what is shorter than a day; negative ones are subtracted
 */
export function topValueCells(
  context: CellContext,
  values: ValueDimension,
  segments: readonly Segment[],
  groups: readonly Group[] | null,
  { all, fine }: { all: string; fine: string },
): string {
  const { query, period, columns, draft } = context;
  const { parameters, organization } = draft;
  const names = ['n', ...columns.map(({ name }) => name)];
  const parts = columns.map(({ of, part, name }) => `${rollupPart(of.metric, part)} as ${name}`);
  const bucket = `${bucketOf('day.begins_at', period, draft)} as b`;
  const ofDay = [bucket, 'r.requests as n', ...parts].join(', ');
  const sources = parameters.bind(query.sources, 'text[]');
  const cellsOf = (isSum: boolean, beginsAt = 'day.begins_at') =>
    valueCellsOfDay({ ...values, isSum }, organization, parameters, beginsAt);
  const negated = names.map((name) => `-v.${name}`).join(', ');
  const sums = names.map((name) => `sum(${name}) as ${name}`).join(', ');
  const head = groups === null ? Math.max(LEAST_HEAD, HEAD * query.limit) : 1;
  const listed = names.join(', ');
  return `with day as materialized (${daysOfSegments(segments, organization, parameters)}),
    head as materialized (
      select day.begins_at, source.name as source, cell.value, cell.requests
        from day cross join unnest(${sources}) as source (name)
       cross join lateral (
         select r.value, r.requests from ${cellsOf(false)} and r.source = source.name
          order by r.requests desc limit ${head}) cell),
    fine as materialized (${fine}),
    known as materialized (
      select ${ofDay} from day cross join lateral (
        select r.* from ${cellsOf(true)} offset 0) r
       where r.source = any(${sources})),
    candidate as materialized (${groups === null ? rankedCandidates(query.limit, head) : givenCandidates(groups, context)}),
    proof as materialized (
      select not exists (
               select from (select distinct begins_at from head) filled
                where not exists (select from ${cellsOf(true, 'filled.begins_at')}))
             and (select coalesce(bool_and(is_complete), true) and count(*) <= ${MOST_CANDIDATES} from candidate) as holds),
    shown as materialized (
      select ${[bucket, 'candidate.g0', 'r.requests as n', ...parts].join(', ')}
        from day cross join candidate cross join lateral (
          select r.* from ${cellsOf(false)} and r.value = candidate.g0 offset 0) r
       where r.source = any(${sources}) and (select holds from proof)
      union all
      select fine.b, fine.g0, ${names.map((name) => `fine.${name}`).join(', ')} from fine join candidate on candidate.g0 = fine.g0),
    valued as materialized (
      select b, ${sums} from (select b, ${listed} from known union all select b, ${listed} from fine) v group by b),
    other as materialized (
      select b, ${sums} from (select * from valued union all select b, ${negated} from shown v) o group by b),
    rest as materialized (
      select b, ${sums} from (select b, ${listed} from (${all}) a union all select b, ${negated} from valued v) o group by b)
    select * from (
      select b, g0, ${listed}, false as is_merged from shown
        where g0 in (select g0 from shown group by g0 having sum(n) > 0)
      union all select b, null::text collate "C", ${listed}, true from other where (select sum(n) from other) > 0
      union all select b, null::text collate "C", ${listed}, false from rest where (select sum(n) from rest) > 0) cells
     where (select holds from proof)`;
}

/**
 * Selects the values g0 that may be among the first, and whether no others may be. `least` and `most` are the bounds of a value's
 * sum: `most` takes the last of each list that the value is not in.
 */
function rankedCandidates(limit: number, head: number): string {
  return `
      with bound as (
        select begins_at, source, case when count(*) = ${head} then min(requests) else 0 end as last from head group by begins_at, source),
      unseen as materialized (select coalesce(sum(last), 0) as most from bound),
      seen as materialized (
        select g0, sum(n) as least, sum(n) - sum(last) + (select most from unseen) as most from (
          select head.value as g0, head.requests as n, bound.last from head join bound using (begins_at, source)
           union all select g0, n, 0 from fine) s
         group by g0),
      floor as materialized (select least from seen order by least desc offset ${limit - 1} limit 1)
      select g0, (select most from unseen) = 0 or coalesce((select least from floor) > (select most from unseen), false) as is_complete
        from seen where most >= coalesce((select least from floor), 0)
       order by most desc limit ${MOST_CANDIDATES + 1}`;
}

function givenCandidates(groups: readonly Group[], { draft }: CellContext): string {
  return `select g0, true as is_complete from (${givenGroups(groups, ['g0'], draft)}) given where g0 is not null`;
}
