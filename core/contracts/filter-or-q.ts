/** A filter in a body: as JSON, in `filter`, or as text, in `q`. */
import { Type } from '@sinclair/typebox';
import { filterForms } from '../filter/mod.ts';
import { MAX_QUERY_LENGTH, parseQuery, QueryTextError } from '../filter/query-text/mod.ts';
import { AssayError } from './errors.ts';
import { invalidField } from './invalid.ts';

/**
 * A filter in any body. Its forms are for readers of the document: core/filter checks it, because a schema's errors cannot
 * name the faulty place in a tree.
 */
export const FilterShape = Type.Unknown({
  $id: 'Filter',
  anyOf: filterForms({ $ref: '#/components/schemas/Filter' }),
  description:
    '"all" or {} for every request; a leaf {section: {field: {operator: value}}}, as in ' +
    '{"request": {"model": {"equals": "gpt-4o-mini"}}}; or a branch {"left": filter, "operator": "and" or "or", "right": filter}',
});

/** A filter as text. core/filter/query-text checks more than its length. */
export const QueryText = Type.String({
  $id: 'QueryText',
  maxLength: MAX_QUERY_LENGTH,
  description:
    'A filter as text, in place of `filter`: status:>=500 model:gpt-4o* -user:bot (cost:>0.01 OR latency:>10s). ' +
    'Conditions beside each other must all hold; a - excludes; text without a field is looked for in the bodies',
});

/** The members of a body that takes a filter. `filterOf` reads them. */
export const filterOrQ = { filter: Type.Optional(FilterShape), q: Type.Optional(QueryText) };
export type FilterOrQ = { filter?: unknown; q?: string };

/**
 * Returns the filter of a body as JSON, the form that is stored. A filter that was given as JSON is not checked yet:
 * `parseFilter` does that.
 * @param otherwise the filter of a body that has none; absent: there must be one
 * @param path of the object that has the members, with a dot behind it
 * @throws AssayError invalid_body when there are both, or neither; invalid_filter for a text that breaks a rule
 */
export function filterOf({ filter, q }: FilterOrQ, { otherwise, path = '' }: FilterOptions = {}): unknown {
  if (filter !== undefined && q !== undefined)
    throw invalidField(`${path}q`, `and ${path}filter exclude each other: send one of them`);
  if (q !== undefined) return parseAt(path, q);
  if (filter !== undefined) return filter;
  if (otherwise === undefined) throw invalidField(`${path}filter`, `is required, or ${path}q in its place`);
  return otherwise;
}

type FilterOptions = { otherwise?: 'all' | null; path?: string };

function parseAt(path: string, q: string): unknown {
  try {
    return parseQuery(q);
  } catch (error) {
    if (path === '' || !(error instanceof QueryTextError)) throw error;
    throw new AssayError(error.code, `${path}${error.message}`);
  }
}
