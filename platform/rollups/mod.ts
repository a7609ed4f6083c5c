/** Reading roll-ups: a plan of the buckets that may be read, and the SQL of their cells. */
export { planRollups } from './plan.ts';
export {
  cellsOfSegments,
  hasManyCells,
  hasOthers,
  rowSpansOfSegments,
  type ValueDimension,
} from './segments-sql.ts';
