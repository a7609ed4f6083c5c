/**
 * The query language in text: parsing to filters, and printing of them. Pure, and free of everything that only Node has, so
 * that pages import it (core/filter/mod.ts is not: it hashes properties).
 */
export { QueryTextError } from './fault.ts';
export { MAX_QUERY_LENGTH, parseQuery } from './parse.ts';
