/**
 * The query language in text: parsing to filters, and printing of them. Pure, and without imports that only Node has, so that
 * web pages can use it (core/filter/mod.ts has them: it hashes properties).
 */
export { QueryTextError } from './fault.ts';
export { MAX_QUERY_LENGTH, parseQuery } from './parse.ts';
