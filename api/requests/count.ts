import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { fromFound } from './conditions.ts';
import type { RequestQuery } from './query.ts';
import { findCountedSource, findShortSource } from './sources.ts';
import { runStatement } from './statement.ts';

/**
 * Keys of a long list that are looked up in the hope of as many matches as a count stops at: some 0.3 s. With fewer, more
 * counts visit every request instead, as all that do not end among these; with more, those lose more time before they do.
 */
const MOST_LOOKED_UP = 20_000;

/**
 * Counts the requests that pass a query's filter and flags.
 * @param atMost the number at which counting stops; null: none
 */
export async function countRequests(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
  atMost: number | null,
): Promise<number> {
  const short = await findShortSource(tx, organizationId, query);
  const long = short === null && atMost !== null ? findCountedSource(query) : null;
  if (long !== null) {
    const statement = countAmongStatement(organizationId, query, long, atMost!);
    const [looked] = await runStatement<{ count: string; keys: string }>(tx, statement);
    const count = Number(looked?.count);
    if (count === atMost || Number(looked?.keys) < MOST_LOOKED_UP) return count;
  }
  const [row] = await runStatement<{ count: string }>(
    tx,
    countStatement(organizationId, query, short, atMost),
  );
  return Number(row?.count);
}

/** Counts all matches: one row, `count` as text. */
function countStatement(
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

/** Counts the matches among the first keys of a list: one row, `count` and the number of `keys` as text. */
function countAmongStatement(
  organizationId: string,
  query: RequestQuery,
  source: KeySource,
  atMost: number,
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const listed = source.compile({
    parameters,
    organization,
    tail: `limit ${MOST_LOOKED_UP}`,
    direction: query.sort.direction,
  });
  const first: KeySource = { ...source, compile: () => 'select created_at, request_id from listed offset 0' };
  const from = fromFound(query, first, { organization, parameters, columns: '', joins: false });
  const text =
    `with listed as materialized (${listed}) select ` +
    `(select count(*) from (select ${from} limit ${parameters.bind(atMost, 'int8')}) found) as count, ` +
    '(select count(*) from listed) as keys';
  return { text, values: parameters.values };
}
