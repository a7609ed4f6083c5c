/** Reading roll-ups: which of their buckets may be read, and the SQL of their cells. */
export { planRollups, type RollupPlan, type WantedRange } from './plan.ts';
export { type CellSource, cellsOfSegments, rowSpansOfSegments } from './segments-sql.ts';
