/** Cells from roll-ups, and from rows where no bucket is up to date. */
import type { Level, Segment } from '#core/rollups/mod.ts';
import { cellsOfSegments, isOfDays } from '#platform/rollups/mod.ts';
import type { Group } from './groups.ts';
import { isScored, type Plan, rollupPart } from './plan.ts';
import { bucketOf, groupColumns, queryCondition } from './requests.ts';
import { type CellContext, cellsOfRequests } from './row-cells.ts';
import { topValueCells } from './top-values.ts';
import { cellsOfEachValue, valueCells } from './value-cells.ts';

/** Sources of a period: roll-ups and the rows between them; null: rows alone. */
export type Sources = {
  readonly plan: Plan;
  readonly totals: readonly Segment[];
  readonly scores: readonly Segment[];
  readonly values: readonly Segment[];
  /** Rows that are subtracted from `values`: they are in its buckets, and outside of the period. */
  readonly subtracted: readonly Segment[];
} | null;

/** Selects the cells of a period: b, g0, …, n, and the columns. */
export function cellsOfRollups(context: CellContext, sources: NonNullable<Sources>): string {
  const { plan, totals, scores, values, subtracted } = sources;
  if (plan.values !== null) {
    const each = cellsOfEachValue(context, plan.values, values, subtracted);
    return valueCells(context, each, cellsOfAll(context, sources));
  }
  const selects: string[] = [];
  if (hasBuckets(totals)) selects.push(totalCells(context, plan.totals, totals));
  if (hasRows(totals)) selects.push(cellsOfRequests(context, totals, 'totals'));
  if (plan.scores !== null && hasBuckets(scores)) selects.push(scoreCells(context, plan.scores, scores));
  if (plan.scores !== null && hasRows(scores)) selects.push(cellsOfRequests(context, scores, 'scores'));
  return selects.map((select) => `(${select})`).join(' union all ');
}

/** Selects the cells of a period as `topValueCells` does, from the values that the plan has as groups. */
export function topCellsOfRollups(
  context: CellContext,
  sources: NonNullable<Sources>,
  groups: readonly Group[] | null,
): string {
  const { plan, values, subtracted } = sources;
  const fine = values.filter((segment) => !isOfDays(segment));
  return topValueCells(context, plan.values!, values, groups, {
    all: cellsOfAll(context, sources),
    fine: cellsOfEachValue(context, plan.values!, fine, subtracted),
  });
}

/** Selects the cells of all requests, without groups. */
function cellsOfAll(context: CellContext, sources: NonNullable<Sources>): string {
  const ungrouped = { ...context, query: { ...context.query, groupBy: [] } };
  return cellsOfRollups(ungrouped, { ...sources, plan: { ...sources.plan, values: null } });
}

const isOfRows = ({ grainSeconds }: Segment) => grainSeconds === 'rows';
/** Returns whether some segments are read from rows. */
export const hasRows = (segments: readonly Segment[]) => segments.some(isOfRows);
/** Returns whether some segments are read from buckets. */
export const hasBuckets = (segments: readonly Segment[]) => !segments.every(isOfRows);

type Context = Pick<CellContext, 'query' | 'period' | 'draft'>;

/** Writes the rows `r` of a table of roll-ups that a query reads, as a FROM clause with its condition. */
export function fromBuckets(
  { query, draft }: Context,
  table: 'rollup_totals' | 'rollup_histograms' | 'rollup_scores',
  level: Level,
  segments: readonly Segment[],
): string {
  const { parameters, organization } = draft;
  const cells = cellsOfSegments({ table, level }, segments, organization, parameters);
  return `from (select c.* from ${cells}) r where ${queryCondition(query, draft)}`;
}

/** The bucket and the group of a row `r` of roll-ups. */
export function keysOf({ query, period, draft }: Context): string[] {
  return [`${bucketOf('r.begins_at', period, draft)} as b`, ...groupColumns(query.groupBy, draft)];
}

function totalCells(context: CellContext, level: Level, segments: readonly Segment[]): string {
  const parts = context.columns.map(
    (column) => `${rollupPart(column.of.metric, column.part)} as ${column.name}`,
  );
  const selected = [...keysOf(context), 'r.requests as n', ...parts].join(', ');
  return `select ${selected} ${fromBuckets(context, 'rollup_totals', level, segments)}`;
}

/** Selects cells of scores and feedback: each score key has rows of its own, which become cells with one metric's columns. */
function scoreCells(context: CellContext, level: Level, segments: readonly Segment[]): string {
  const { measured, columns, draft } = context;
  const scored = measured.filter(({ metric }) => isScored(metric));
  const isOf = new Map(
    scored.map(({ metric, as }) => [
      as,
      metric.scoreKey === null
        ? `r.metric = 'feedback'`
        : `r.metric = 'score' and r.key = ${draft.parameters.bind(metric.scoreKey, 'text')}`,
    ]),
  );
  const parts = columns.map(({ of, part, name }) => {
    const condition = isOf.get(of.as);
    return condition === undefined
      ? `null::numeric as ${name}`
      : `case when ${condition} then r.value_${part} end as ${name}`;
  });
  const isOfMetrics = [...isOf.values()].map((one) => `(${one})`).join(' or ');
  const selected = [...keysOf(context), '0 as n', ...parts].join(', ');
  return `select ${selected} ${fromBuckets(context, 'rollup_scores', level, segments)} and (${isOfMetrics})`;
}
