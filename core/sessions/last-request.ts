/** The requests that sessions are evaluated at. */
import { compileFilter, type Filter, type Parameters } from '../filter/mod.ts';

/**
 * Returns the conditions on a request `r` that is the newest of its session, where some request of the session passes a filter.
 * @param until requests after this moment do not count, as if the session had ended before
 */
export function lastOfSession(
  { organizationId, filter, until }: { organizationId: string; filter: Filter; until: Date },
  parameters: Parameters,
): string[] {
  const organization = parameters.bind(organizationId, 'uuid');
  const end = parameters.bind(until.toISOString(), 'timestamptz');
  const counts = (alias: string) =>
    `${alias}.organization_id = ${organization} and ${alias}.source <> 'evaluator' and ${alias}.created_at <= ${end}`;
  // Inside `exists`, `r` is another request: compiled filters know no other name.
  return [
    counts('r'),
    'r.session_id is not null',
    `not exists (select from assay.requests n where n.session_id = r.session_id and ${counts('n')}
       and (n.created_at, n.request_id) > (r.created_at, r.request_id))`,
    `exists (select from (select r.session_id as id) own join assay.requests r on r.session_id = own.id
       where ${counts('r')} and ${compileFilter(filter, parameters, { joins: false })})`,
  ];
}
