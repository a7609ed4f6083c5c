/** Filters: from what a caller sent to checked nodes, and from those to SQL. Pure. */
export { type CompileOptions, compileFilter } from './compile.ts';
export { FIXED_SECTIONS, OPERATORS, OPERATORS_OF_TYPE, type Operator, SECTIONS } from './fields.ts';
export { type KeySource, keySource, keySourcesOf, type Listing, propertyToWalk } from './key-source.ts';
export { MAX_DEPTH, MAX_LEAVES, MAX_PATH_SEGMENTS, MAX_STRING_LENGTH } from './limits.ts';
export { ALL, type Branch, type Comparison, complementOf, type Filter, type Leaf } from './nodes.ts';
export { Parameters, type SqlValue, type Statement } from './parameters.ts';
export { parseFilter } from './parse.ts';
export { parseTimestamp } from './timestamp.ts';
