/** SQL that reads the segments of a plan. */
import type { Parameters } from '#core/filter/mod.ts';
import type { Level, Segment } from '#core/rollups/mod.ts';

/** A table of roll-ups, and the level to be read where it has levels. */
export type CellSource =
  | { table: 'rollup_totals' | 'rollup_histograms' | 'rollup_scores'; level: Level }
  | ({ table: 'rollup_values' } & ValueDimension);

/** Dimension of cells of values: the organization's users, with the name '', or a property, by its folded name. */
export type ValueDimension = { readonly dimension: 'user' | 'property'; readonly name: string };

/**
 * Returns a FROM item: the rows `c` of a table of roll-ups that a plan's buckets consist of, with all of their columns. The caller
 * adds conditions on other columns.
 * @param organization the placeholder of the organization's id
 */
export function cellsOfSegments(
  source: CellSource,
  segments: readonly Segment[],
  organization: string,
  parameters: Parameters,
): string {
  const segment = bucketsOf(segments, parameters);
  const own = `cell.organization_id = ${organization} and cell.grain_seconds = segment.grain_seconds`;
  if ('level' in source) {
    return `${segment}
    cross join lateral (
      select cell.* from assay.${source.table} cell
       where ${own} and cell.level = ${parameters.bind(source.level, 'text')}
         and cell.begins_at >= segment.from_at and cell.begins_at < segment.to_at offset 0) c`;
  }
  // Looked up bucket by bucket: by a range of time, the index would be read through the cells of every user and property.
  return `${segment}
    cross join lateral (
      select min(cell.begins_at) as at from assay.rollup_values cell where ${own}) oldest
    cross join lateral generate_series(greatest(segment.from_at, oldest.at), segment.to_at - interval '1 ms',
      segment.grain_seconds * interval '1 second') as bucket (begins_at)
    cross join lateral (
      select cell.* from assay.rollup_values cell
       where ${own} and cell.begins_at = bucket.begins_at and cell.dimension = ${parameters.bind(source.dimension, 'text')}
         and cell.name = ${parameters.bind(source.name, 'text')} offset 0) c`;
}

/** Length of the buckets that have sums of all values, and lists of values by their requests. */
const DAY_SECONDS = 86_400;

/** Returns whether a segment consists of whole days. */
export const isOfDays = ({ grainSeconds }: Segment) => grainSeconds === DAY_SECONDS;

/**
 * Returns a query for the beginnings of the whole days of a plan, `begins_at`, from the oldest one that has values.
 * @param organization the placeholder of the organization's id
 */
export function daysOfSegments(
  segments: readonly Segment[],
  organization: string,
  parameters: Parameters,
): string {
  return `
    select bucket.begins_at
      from ${bucketsOf(segments.filter(isOfDays), parameters)}
     cross join (
       select min(cell.begins_at) as at from assay.rollup_values cell
        where cell.organization_id = ${organization} and cell.grain_seconds = ${DAY_SECONDS}) oldest
     cross join generate_series(greatest(segment.from_at, oldest.at), segment.to_at - interval '1 ms', interval '1 day')
             as bucket (begins_at)`;
}

/** Returns the FROM item and the condition of the cells `r` of a day's values, or of their sums, one a source. */
export function valueCellsOfDay(
  { dimension, name, isSum = false }: ValueDimension & { isSum?: boolean },
  organization: string,
  parameters: Parameters,
  beginsAt: string,
): string {
  return `assay.rollup_values r
       where r.organization_id = ${organization} and r.grain_seconds = ${DAY_SECONDS} and r.begins_at = ${beginsAt}
         and r.dimension = ${parameters.bind(isSum ? `${dimension}_sum` : dimension, 'text')} and r.name = ${parameters.bind(name, 'text')}`;
}

/** Returns the condition that some bucket of a plan has values merged as others. */
export function hasOthers(
  { name }: ValueDimension,
  segments: readonly Segment[],
  organization: string,
  parameters: Parameters,
): string {
  const property = parameters.bind(name, 'text');
  return `exists (
    select from ${bucketsOf(segments, parameters)}
     cross join lateral (
      select from assay.rollup_values cell
       where cell.organization_id = ${organization} and cell.grain_seconds = segment.grain_seconds and cell.is_other
         and cell.name = ${property} and cell.begins_at >= segment.from_at and cell.begins_at < segment.to_at limit 1) other)`;
}

/** Buckets of a segment whose cells are counted. */
const COUNTED_BUCKETS = 2;

/**
 * Returns a condition that the segments have more cells of values than `limit`, were all buckets of a segment as large as the
 * larger one of its newest two.
 */
export function hasManyCells(
  { dimension, name }: ValueDimension,
  segments: readonly Segment[],
  organization: string,
  parameters: Parameters,
  limit: number,
): string {
  const own = `cell.organization_id = ${organization} and cell.grain_seconds = segment.grain_seconds`;
  return `(
    select coalesce(sum(length.buckets * newest.cells) > ${limit}, false)
      from ${bucketsOf(segments, parameters)}
     cross join lateral (
       select min(cell.begins_at) as from_at, max(cell.begins_at) as last_at from assay.rollup_values cell
        where ${own} and cell.begins_at >= segment.from_at and cell.begins_at < segment.to_at) found
     cross join lateral (
       select 1 + extract(epoch from found.last_at - found.from_at) / segment.grain_seconds as buckets) length
     cross join lateral (
       select max(counted.cells) as cells
         from generate_series(1, least(length.buckets, ${COUNTED_BUCKETS})::int4) as bucket (number)
        cross join lateral (
          select count(*) as cells from (
            select from assay.rollup_values cell
             where ${own} and cell.begins_at = found.last_at - (bucket.number - 1) * segment.grain_seconds * interval '1 second'
               and cell.dimension = ${parameters.bind(dimension, 'text')} and cell.name = ${parameters.bind(name, 'text')}
             limit ${limit + 1}) few) counted) newest)`;
}

/** Returns a FROM item `segment` with the columns grain_seconds, from_at and to_at: the buckets of a plan. */
function bucketsOf(segments: readonly Segment[], parameters: Parameters): string {
  const buckets = segments.filter(({ grainSeconds }) => grainSeconds !== 'rows');
  const grains = buckets.map(({ grainSeconds }) => String(grainSeconds));
  return `unnest(${parameters.bind(grains, 'integer[]')}, ${spansOf(buckets, parameters)}) as segment (grain_seconds, from_at, to_at)`;
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
