/** Filters: parsing of a caller's JSON to checked nodes, and compilation of those to SQL. Pure. */
export { alternativesOf, alternativesSource, alternativesToWalk } from './alternatives.ts';
export { parseAnalyticsFilter } from './analytics.ts';
export { type CompileOptions, compileFilter } from './compile.ts';
export {
  boundOf,
  type KeySource,
  keySource,
  keySourcesOf,
  type Listing,
  propertyToWalk,
} from './key-source.ts';
export type { Filter } from './nodes.ts';
export { Parameters, type Statement } from './parameters.ts';
export { parseFilter } from './parse.ts';
export { containing } from './pattern.ts';
export { filterForms } from './shape.ts';
export { EARLIEST_MS, LATEST_MS, parseMoment, parseTimestamp } from './timestamp.ts';
