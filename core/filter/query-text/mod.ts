/**
 * The query language in text: parsing to filters, and printing of them. Pure, and without imports that only Node has, so that
 * web pages can use it (core/filter/mod.ts has them: it hashes properties).
 */
export { MAX_LEAVES } from '../limits.ts';
export { type Explained, explain } from './explain.ts';
export { QueryTextError } from './fault.ts';
export { findNamed } from './names.ts';
export { MAX_QUERY_LENGTH, parseQuery, readQueryText } from './parse.ts';
export { printQuery } from './print.ts';
export { conditionOf, type FilterTree, isBranch, leafOf } from './tree.ts';
