/**
 * Computation of the cells of roll-ups. Each family has common table expressions that begin with `due`, the buckets that are
 * wanted, and end with one for each of its tables, with the columns of that table. They are read from the rows or, for a coarse
 * grain, from its parts: the cells of a finer one.
 */

/** A table of roll-ups, as the expression of the same columns computes it. */
export type CellTable = {
  /** Name in the schema assay. */
  table: string;
  /** The expression's name. */
  from: string;
  /** Columns except grain_seconds. */
  columns: readonly string[];
};

/** One family. Parameters: $1 organizations and $2 beginnings, parallel; $3 the seconds of the grain, $4 those of its parts. */
export type Cells = {
  tables: readonly CellTable[];
  fromRows: string;
  fromParts: string;
};

/** The columns that name a bucket of any table, beside its grain. */
export const BUCKET = ['organization_id', 'begins_at'];

/** The wanted buckets. */
export const DUE = `
  due as materialized (
    select organization_id, begins_at, begins_at + $3::integer * interval '1 second' as ends_at
      from unnest($1::uuid[], $2::timestamptz[]) as wanted (organization_id, begins_at))`;

/**
 * Returns a FROM clause: the columns of a table's rows of each wanted bucket, beside those of `due`. "offset 0" keeps this a look-up
 * of each bucket in the index by organization and time, whatever Postgres estimates: otherwise it may read the whole table.
 */
export function ofEachBucket(table: string, columns: string, condition: string): string {
  return `due cross join lateral (
      select ${columns} from assay.${table}
       where organization_id = due.organization_id and ${condition} offset 0) found`;
}

/** Condition on the time of a request. */
export const CREATED_IN_BUCKET = 'created_at >= due.begins_at and created_at < due.ends_at';
/** Condition on the cells that a coarse bucket consists of. */
export const PART_OF_BUCKET =
  'grain_seconds = $4::integer and begins_at >= due.begins_at and begins_at < due.ends_at';

/** Joins columns or expressions. */
export function list(parts: readonly string[]): string {
  return parts.join(', ');
}
