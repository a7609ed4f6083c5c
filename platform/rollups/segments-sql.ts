/** SQL that reads the segments of a plan. */
import type { Parameters } from '#core/filter/mod.ts';
import type { Level, Segment } from '#core/rollups/mod.ts';

/** A table of roll-ups, and the level to be read where it has levels. */
export type CellSource =
  | { table: 'rollup_totals' | 'rollup_histograms' | 'rollup_scores'; level: Level }
  | { table: 'rollup_values'; dimension: 'user' | 'property' };

/**
 * Returns a FROM item: the rows `c` of a table of roll-ups that a plan's buckets consist of, with all of their columns. The caller
 * adds conditions on other columns (for a property: on `c.name`).
 * @param organization the placeholder of the organization's id
 */
export function cellsOfSegments(
  source: CellSource,
  segments: readonly Segment[],
  organization: string,
  parameters: Parameters,
): string {
  const buckets = segments.filter(({ grainSeconds }) => grainSeconds !== 'rows');
  const grains = buckets.map(({ grainSeconds }) => String(grainSeconds));
  const of = 'level' in source ? ['level', source.level] : ['dimension', source.dimension];
  return `unnest(${parameters.bind(grains, 'integer[]')}, ${spansOf(buckets, parameters)}) as segment (grain_seconds, from_at, to_at)
    cross join lateral (
      select cell.* from assay.${source.table} cell
       where cell.organization_id = ${organization} and cell.grain_seconds = segment.grain_seconds
         and cell.${of[0]} = ${parameters.bind(of[1]!, 'text')}
         and cell.begins_at >= segment.from_at and cell.begins_at < segment.to_at offset 0) c`;
}

/** Returns a FROM item with the columns from_at and to_at: the spans of time whose rows a plan reads. */
export function rowSpansOfSegments(segments: readonly Segment[], parameters: Parameters): string {
  const rows = segments.filter(({ grainSeconds }) => grainSeconds === 'rows');
  return `unnest(${spansOf(rows, parameters)}) as span (from_at, to_at)`;
}

function spansOf(segments: readonly Segment[], parameters: Parameters): string {
  const moments = (of: 'fromMs' | 'toMs') =>
    parameters.bind(
      segments.map((segment) => new Date(segment[of]).toISOString()),
      'timestamptz[]',
    );
  return `${moments('fromMs')}, ${moments('toMs')}`;
}
