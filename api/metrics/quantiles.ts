/** The statement of exact quantiles: those of `percentile_cont`, which interpolates between two values, as numpy does. */
import type { Statement } from '#core/filter/mod.ts';
import type { Measure, Metric } from '#core/metrics/mod.ts';
import { type Group, givenGroups, isSameGroup } from './groups.ts';
import type { MetricsQuery, Period } from './read-query.ts';
import {
  bucketOf,
  type Draft,
  draftFor,
  fromRequests,
  groupColumns,
  groupJoins,
  keyOf,
  type Measured,
  measuredOf,
} from './requests.ts';

/**
 * Quantiles by bucket and group, numbered as in `CellRow`. q0, q1, … are JSON arrays, one for each metric of `QuantilesOf`,
 * with a value for each of its shares.
 */
export type QuantileRow = { b: number | null; k: number | null } & Record<string, string | number | null>;

/** Metrics with the requested shares of each. */
export type QuantilesOf = readonly {
  readonly metric: Metric;
  readonly key: string;
  readonly shares: readonly number[];
}[];

const isQuantile = ({ aggregate }: Measure) => aggregate === 'quantile';

/** Returns the quantiles that measures need: each metric and each share once. */
export function quantilesOf(measures: readonly Measure[]): QuantilesOf {
  const byKey = Map.groupBy(measures.filter(isQuantile), ({ metric }) => keyOf(metric));
  return [...byKey].map(([key, own]) => ({
    metric: own[0]!.metric,
    key,
    shares: [...new Set(own.map(({ share }) => share))],
  }));
}

/** Selects the quantiles of a period, of these groups and of all others. */
export function quantilesStatement(
  organizationId: string,
  query: MetricsQuery,
  period: Period,
  groups: readonly Group[],
): Statement {
  const draft = draftFor(organizationId);
  const { groupBy } = query;
  const measured = quantileMetrics(query.measures, draft);
  const names = groupBy.map((_, index) => `g${index}`);
  const bucket = `${bucketOf('r.created_at', period, draft)} as b`;
  const values = selectValues(query, period, measured, [bucket, ...groupColumns(groupBy, draft)], draft);
  const arrays = quantilesOf(query.measures).map(({ shares }, index) => {
    const of = draft.parameters.bind(shares.map(String), 'float8[]');
    return `array_to_json(percentile_cont(${of}) within group (order by c.m${index}::float8))::text as q${index}`;
  });
  const isGrouped = names.length > 0;
  const numbered = isGrouped
    ? `select p.*, coalesce(t.k, 0) as k from p left join (${givenGroups(groups, names, draft)}) t on ${isSameGroup('p', 't', names)}`
    : 'select p.*, null::int4 as k from p';
  const sets = isGrouped ? '((c.b, c.k), (c.k), (c.b), ())' : '((c.b), ()), c.k';
  const text = `with p as not materialized (${values}) select c.b, c.k, ${arrays.join(', ')} from (${numbered}) c group by grouping sets ${sets}`;
  return { text, values: draft.parameters.values };
}

/** Selects the first groups in the order of a quantile: g0, g1, … */
export function groupsByQuantile(organizationId: string, query: MetricsQuery): Statement {
  const draft = draftFor(organizationId);
  const { groupBy, order, period, limit } = query;
  const measure = query.measures[order.measure]!;
  const measured = measuredOf([measure.metric], draft);
  const names = groupBy.map((_, index) => `g${index}`);
  const values = selectValues(query, period, measured, groupColumns(groupBy, draft), draft);
  const share = draft.parameters.bind(String(measure.share), 'float8');
  const ties = names.map((name) => `${name} nulls last`).join(', ');
  const text = `select ${names.join(', ')} from (${values}) p group by ${names.join(', ')}
    order by percentile_cont(${share}) within group (order by p.m0::float8) ${order.direction} nulls last, ${ties}
    limit ${draft.parameters.bind(limit, 'int8')}`;
  return { text, values: draft.parameters.values };
}

function quantileMetrics(measures: readonly Measure[], draft: Draft): Measured[] {
  return measuredOf(
    measures.filter(isQuantile).map(({ metric }) => metric),
    draft,
  );
}

function selectValues(
  query: MetricsQuery,
  { range }: Period,
  measured: readonly Measured[],
  keys: readonly string[],
  draft: Draft,
): string {
  const values = measured.map(({ value, as }) => `${value} as ${as}`);
  const joins = [groupJoins(query.groupBy), ...measured.map(({ join }) => join(false))].join(' ');
  return `select ${[...keys, ...values].join(', ')} ${fromRequests(query, range, draft, joins)}`;
}
