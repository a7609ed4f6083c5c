import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import { conditionOf } from './conditions.ts';
import type { RequestQuery } from './query.ts';

/**
 * How many requests pass a query's filter and flags: one row, `count` as text.
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
  if (source === null) {
    const condition = conditionOf(query, organization, parameters, { joins: true });
    return {
      text: `select count(*) as count from assay.requests r where ${condition}`,
      values: parameters.values,
    };
  }
  const condition = conditionOf({ ...query, filter: source.rest }, organization, parameters, {
    joins: false,
  });
  const listed = source.compile({ parameters, organization, tail: 'offset 0', direction: 'desc' });
  const text =
    source.yields === 'rows'
      ? `select count(*) as count from (${listed}) r where ${condition}`
      : `select count(*) as count from (${listed}) k cross join lateral (select from assay.requests r ` +
        `where r.created_at = k.created_at and r.request_id = k.request_id and ${condition} offset 0) r`;
  return { text, values: parameters.values };
}
