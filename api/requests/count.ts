import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import { fromFound } from './conditions.ts';
import type { RequestQuery } from './query.ts';

/**
 * Counts the requests that pass a query's filter and flags: one row, `count` as text.
 *
 * @param source a short list that all of them are in, if there is one
 * @param atMost the number at which counting stops; null: none
 */
export function countStatement(
  organizationId: string,
  query: RequestQuery,
  source: KeySource | null,
  atMost: number | null,
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const from = fromFound(query, source, { organization, parameters, columns: '', joins: atMost === null });
  // Without joins the rows of an index are tested one after the other, so that the limit ends the work.
  const text =
    atMost === null
      ? `select count(*) as count ${from}`
      : `select count(*) as count from (select ${from} limit ${parameters.bind(atMost, 'int8')}) found`;
  return { text, values: parameters.values };
}
