/** Filters: from what a caller sent to checked nodes, and from those to SQL. Pure. */
export { type CompileOptions, compileFilter } from './compile.ts';
export { type KeySource, keySource, keySourcesOf, type Listing, propertyToWalk } from './key-source.ts';
export type { Filter } from './nodes.ts';
export { Parameters, type Statement } from './parameters.ts';
export { parseFilter } from './parse.ts';
export { parseTimestamp } from './timestamp.ts';
