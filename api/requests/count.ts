import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import { fromFound } from './conditions.ts';
import type { RequestQuery } from './query.ts';

/**
 * Counts the requests that pass a query's filter and flags: one row, `count` as text.
 *
 * @param source a short list that all of them are in, if there is one
 */
export function countStatement(
  organizationId: string,
  query: RequestQuery,
  source: KeySource | null,
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const from = fromFound(query, source, { organization, parameters, columns: '', joins: true });
  return { text: `select count(*) as count ${from}`, values: parameters.values };
}
