/** Parts of statements about sessions. */
import { containing, type Filter, Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findShortSource, fromFound, readQuery } from '../requests/mod.ts';
import type { Names, SessionsQuery, Window } from './read-query.ts';

/** A statement under construction, with the organization's placeholder. */
export type Draft = { parameters: Parameters; organization: string };

/** Begins a statement about one organization. */
export function draftFor(organizationId: string): Draft {
  const parameters = new Parameters();
  return { parameters, organization: parameters.bind(organizationId, 'uuid') };
}

/** Ends a draft. */
export function finish({ parameters }: Draft, text: string): Statement {
  return { text, values: parameters.values };
}

/** Writes the condition on the names of a session with the id `column`, beginning with "and"; empty when there is none. */
export function namesCondition({ search, contains, equals }: Names, column: string, draft: Draft): string {
  const { parameters, organization } = draft;
  const named = (condition: string) =>
    `${column} in (select n.session_id from assay.session_names n where n.organization_id = ${organization} and ${condition})`;
  const like = (name: string, text: string) =>
    `${name} collate "default" ilike ${parameters.bind(containing(text), 'text')}`;
  const conditions: string[] = [];
  if (equals !== null) conditions.push(named(`n.name = ${parameters.bind(equals, 'text')}`));
  if (contains !== null) conditions.push(named(like('n.name', contains)));
  if (search !== null) conditions.push(`(${like(column, search)} or ${named(like('n.name', search))})`);
  return conditions.map((condition) => ` and ${condition}`).join('');
}

/** Writes the condition on the time of a request, beginning with "and". */
export function windowCondition({ from, to }: Window, column: string, { parameters }: Draft): string {
  const bind = (moment: Date) => parameters.bind(moment.toISOString(), 'timestamptz');
  return `${from === null ? '' : ` and ${column} >= ${bind(from)}`}${to === null ? '' : ` and ${column} < ${bind(to)}`}`;
}

/** The columns of a request that totals are made of. */
const COUNTED = `r.session_id, r.session_name, r.created_at, r.request_id, r.latency_ms, r.prompt_tokens,
  r.completion_tokens, r.total_tokens, r.cost_nano`;

/** The totals of requests `r`, as `assay.sessions` names them. */
export const TOTALS = `min(r.created_at) as first_at, max(r.created_at) as last_at, count(*) as requests,
  count(r.latency_ms) as timed_requests, coalesce(sum(r.latency_ms), 0) as latency_ms,
  coalesce(sum(r.prompt_tokens), 0) as prompt_tokens, coalesce(sum(r.completion_tokens), 0) as completion_tokens,
  coalesce(sum(r.total_tokens), 0) as total_tokens, sum(r.cost_nano) as cost_nano`;

/** Returns a function that writes the FROM clause of the requests `r` of sessions that pass a query's time, filter and names. */
export async function requestsInSessions(
  tx: TransactionSql,
  organizationId: string,
  query: SessionsQuery,
): Promise<(draft: Draft) => string> {
  const found = { ...readQuery({ filter: 'all' }), filter: query.filter };
  const source = await findShortSource(tx, organizationId, found);
  return (draft) => {
    const from = fromFound(found, source, { ...draft, columns: COUNTED, joins: true });
    return (
      `from (select ${COUNTED} ${from}) r where r.session_id is not null` +
      windowCondition(query.window, 'r.created_at', draft) +
      namesCondition(query.names, 'r.session_id', draft)
    );
  };
}

/** Returns whether every request passes a filter, so that the totals of whole sessions can be used. */
export function isAll(filter: Filter): boolean {
  if (filter.kind !== 'branch') return filter.kind === 'all';
  const [left, right] = [isAll(filter.left), isAll(filter.right)];
  return filter.operator === 'and' ? left && right : left || right;
}
