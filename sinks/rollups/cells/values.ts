/** The family of values: sums by user, and by the commonest values of each property. */
import { MAX_PROPERTY_VALUE_LENGTH, MAX_PROPERTY_VALUES, VALUE_MEASURED } from '#core/rollups/mod.ts';
import { BUCKET, type Cells, CREATED_IN_BUCKET, DUE, list, ofEachBucket, PART_OF_BUCKET } from './cells.ts';

const NAMED = ['dimension', 'name', 'value', 'is_other', 'source'];

const MEASURE_COLUMNS = [
  'requests',
  'errors',
  ...VALUE_MEASURED.flatMap((one) => [`${one}_count`, `${one}_sum`]),
  'first_at',
  'last_at',
];

const SUMS_OF_ROWS = list([
  'count(*)::bigint as requests',
  'count(*) filter (where status >= 400) as errors',
  ...VALUE_MEASURED.flatMap((one) => [`count(${one}) as ${one}_count`, `sum(${one}) as ${one}_sum`]),
  'min(created_at) as first_at',
  'max(created_at) as last_at',
]);

const SUMS_OF_SUMS = list([
  'sum(requests)::bigint as requests',
  'nullif(sum(errors), 0)::bigint as errors',
  ...VALUE_MEASURED.flatMap((one) => [
    `nullif(sum(${one}_count), 0)::bigint as ${one}_count`,
    `nullif(sum(${one}_sum), 0)::${one === 'cost_nano' ? 'numeric' : 'bigint'} as ${one}_sum`,
  ]),
  'min(first_at)::timestamptz(3) as first_at',
  'max(last_at)::timestamptz(3) as last_at',
]);

const COLUMNS = list([...BUCKET, ...NAMED, ...MEASURE_COLUMNS]);
/** Days have a cell for all values of a dimension and a name together, so that a query need not add up all users. */
const DAY_SECONDS = 86_400;

/** Puts the values of a property that are not among the commonest of their bucket into one row. */
const CUT = `
  ranked as (
    select *, dimension = 'property' and (is_other or ${MAX_PROPERTY_VALUES} < row_number() over (
             partition by ${list([...BUCKET, 'dimension', 'name', 'source', 'is_other'])} order by requests desc, value)) as is_cut
      from counted),
  own as materialized (
    select ${list([...BUCKET, 'dimension', 'name'])}, case when is_cut then '' else value end as value, is_cut as is_other, source,
           ${SUMS_OF_SUMS}
      from ranked group by ${list([...BUCKET, 'dimension', 'name'])}, 5, is_cut, source),
  cells as (
    select ${COLUMNS} from own
     union all
    select ${list(BUCKET)}, dimension || '_sum', name, '', false, source, ${SUMS_OF_SUMS}
      from own where $3::integer = ${DAY_SECONDS} group by ${list(BUCKET)}, dimension, name, source)`;

const LENGTH = `length(property.value) > ${MAX_PROPERTY_VALUE_LENGTH}`;

export const VALUES: Cells = {
  tables: [{ table: 'rollup_values', from: 'cells', columns: [...BUCKET, ...NAMED, ...MEASURE_COLUMNS] }],
  fromRows: `${DUE},
  found as materialized (
    select due.organization_id, due.begins_at, found.*
      from ${ofEachBucket('requests', list(['source', 'user_id', 'properties_folded', 'status', 'created_at', ...VALUE_MEASURED]), CREATED_IN_BUCKET)}),
  counted as (
    select ${list(BUCKET)}, 'user' as dimension, '' collate "C" as name, user_id as value, false as is_other, source, ${SUMS_OF_ROWS}
      from found where user_id is not null
     group by ${list(BUCKET)}, user_id, source
     union all
    select ${list(BUCKET)}, 'property', property.name, case when ${LENGTH} then '' else property.value end, ${LENGTH}, source,
           ${SUMS_OF_ROWS}
      from found cross join lateral jsonb_each_text(properties_folded) as property (name, value)
     group by ${list(BUCKET)}, 4, 5, 6, source), ${CUT}`,
  fromParts: `${DUE},
  counted as (
    select ${list(['due.organization_id', 'due.begins_at', ...NAMED])}, ${SUMS_OF_SUMS}
      from ${ofEachBucket('rollup_values', list([...NAMED, ...MEASURE_COLUMNS]), PART_OF_BUCKET)}
     group by ${list(['due.organization_id', 'due.begins_at', ...NAMED])}), ${CUT}`,
};
