/** Reading roll-ups: a plan of the buckets that may be read, and the SQL of their cells. */
export { planRollups } from './plan.ts';
export {
  cellsOfSegments,
  daysOfSegments,
  hasManyCells,
  hasOthers,
  isOfDays,
  rowSpansOfSegments,
  type ValueDimension,
  valueCellsOfDay,
} from './segments-sql.ts';
