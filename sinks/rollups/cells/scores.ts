/** The family of scores: by key and evaluator at some levels, and feedback as 1 and 0. */
import { dimensionsOf, LEVELS, SCORE_LEVELS } from '#core/rollups/mod.ts';
import { BUCKET, type Cells, CREATED_IN_BUCKET, DUE, list, ofEachBucket, PART_OF_BUCKET } from './cells.ts';
import { groupByLevels } from './group-by-levels.ts';

const SCORED = ['metric', 'key', 'evaluator_id'];
const DIMENSIONS = dimensionsOf(SCORE_LEVELS);
const SUMS = ['value_count', 'value_sum', 'value_min', 'value_max'];

const SUMS_OF_SUMS =
  'sum(value_count)::bigint as value_count, sum(value_sum) as value_sum, min(value_min) as value_min, max(value_max) as value_max';

const levels = groupByLevels(
  SCORE_LEVELS.map((name) => [name, LEVELS[name]]),
  [...BUCKET, ...SCORED],
);

export const SCORES: Cells = {
  tables: [
    {
      table: 'rollup_scores',
      from: 'cells',
      columns: [...BUCKET, 'level', ...SCORED, ...DIMENSIONS, ...SUMS],
    },
  ],
  // Cast by way of text: a direct cast from double precision to numeric would round to 15 digits.
  fromRows: `${DUE},
  scored as (
    select due.organization_id, due.begins_at, 'score' as metric, found.key, found.evaluator_id, found.value, of_request.*
      from ${ofEachBucket('request_scores', 'created_at, request_id, key, evaluator_id, value', CREATED_IN_BUCKET)}
           cross join lateral (
      select ${list(DIMENSIONS)} from assay.requests r
       where r.organization_id = due.organization_id and r.created_at = found.created_at and r.request_id = found.request_id
      offset 0) of_request
     union all
    select due.organization_id, due.begins_at, 'feedback', '' collate "C", null::uuid, found.value, ${list(DIMENSIONS)}
      from (values (true), (false)) as given (rating) cross join ${ofEachBucket('requests', list(['feedback_rating::integer::double precision as value', ...DIMENSIONS]), `feedback_rating = given.rating and ${CREATED_IN_BUCKET}`)}),
  by_all as (
    select ${list([...BUCKET, ...SCORED, ...DIMENSIONS])}, count(*) as value_count, sum(value::text::numeric) as value_sum,
           min(value) as value_min, max(value) as value_max
      from scored group by ${list([...BUCKET, ...SCORED, ...DIMENSIONS])}),
  cells as (
    select ${list([...BUCKET, `${levels.level} as level`, ...SCORED, ...DIMENSIONS])}, ${SUMS_OF_SUMS} from by_all group by ${levels.sets})`,
  fromParts: `${DUE},
  cells as (
    select ${list(['due.organization_id', 'due.begins_at', 'level', ...SCORED, ...DIMENSIONS])}, ${SUMS_OF_SUMS}
      from ${ofEachBucket('rollup_scores', list(['level', ...SCORED, ...DIMENSIONS, ...SUMS]), `${PART_OF_BUCKET} and level = any('{${list(SCORE_LEVELS)}}')`)}
     group by ${list(['due.organization_id', 'due.begins_at', 'level', ...SCORED, ...DIMENSIONS])})`,
};
