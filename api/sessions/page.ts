/**
 * Pages of sessions. Without a filter, they are walked in `assay.sessions`, newest first, and the requests are read only of those
 * sessions on the page that the time cuts. With one, the requests that pass it are grouped.
 */
import type { Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import {
  type Draft,
  draftFor,
  finish,
  isAll,
  namesCondition,
  requestsInSessions,
  TOTALS,
  windowCondition,
} from './conditions.ts';
import type { SessionsQuery, Window } from './read-query.ts';
import type { StoredSession } from './session-json.ts';

/** Columns of `s`, of `assay.sessions`, that belong to a session whatever the query. */
const OWN = 's.session_id, s.name, s.tag, s.feedback_rating';
const COUNTED =
  's.first_at, s.last_at, s.requests, s.timed_requests, s.latency_ms, s.prompt_tokens, s.completion_tokens, s.total_tokens, s.cost_nano';

/** Finds the sessions of a page, in order. */
export async function findSessions(
  tx: TransactionSql,
  organizationId: string,
  query: SessionsQuery,
): Promise<StoredSession[]> {
  if (!isAll(query.filter)) {
    const from = await requestsInSessions(tx, organizationId, query);
    return await runStatement<StoredSession>(tx, filteredPage(organizationId, query, from));
  }
  const page = await runStatement<StoredSession & { is_cut: boolean }>(tx, wholePage(organizationId, query));
  const cut = page.filter((session) => session.is_cut).map((session) => session.session_id);
  if (cut.length === 0) return page;
  const counted = await runStatement<StoredSession>(tx, countWithin(organizationId, cut, query.window));
  const totals = new Map(counted.map((session) => [session.session_id, session]));
  return page.flatMap((session) =>
    session.is_cut
      ? totals.has(session.session_id)
        ? [{ ...session, ...totals.get(session.session_id)! }]
        : []
      : [session],
  );
}

function filteredPage(
  organizationId: string,
  { limit, offset }: SessionsQuery,
  from: (draft: Draft) => string,
): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `
    select ${OWN}, t.* from (
      select r.session_id, ${TOTALS} ${from(draft)} group by r.session_id
       order by first_at desc, session_id desc
       limit ${parameters.bind(limit, 'int8')} offset ${parameters.bind(offset, 'int8')}) t
      join assay.sessions s on s.organization_id = ${organization} and s.session_id = t.session_id
     order by t.first_at desc, t.session_id desc`;
  return finish(draft, text);
}

function wholePage(organizationId: string, { window, names, limit, offset }: SessionsQuery): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const most = `${parameters.bind(limit, 'int8')} + ${parameters.bind(offset, 'int8')}`;
  const matching = namesCondition(names, 's.session_id', draft);
  const began = `
    (select s.session_id, s.first_at as began from assay.sessions s
      where s.organization_id = ${organization}${windowCondition(window, 's.first_at', draft)}${matching}
      order by s.first_at desc, s.session_id desc limit ${most})`;
  const cut = isCut(window, draft);
  const text = `
    select ${OWN}, ${COUNTED}, ${cut} as is_cut
      from (select * from (${began} ${goingOn(window, matching, draft)}) found
             order by began desc, session_id desc
             limit ${parameters.bind(limit, 'int8')} offset ${parameters.bind(offset, 'int8')}) f
      join assay.sessions s on s.organization_id = ${organization} and s.session_id = f.session_id
     order by f.began desc, f.session_id desc`;
  return finish(draft, text);
}

/** Writes whether a window holds only a part of session `s`. */
function isCut({ from, to }: Window, { parameters }: Draft): string {
  const bind = (moment: Date) => parameters.bind(moment.toISOString(), 'timestamptz');
  const parts = [
    ...(from === null ? [] : [`s.first_at < ${bind(from)}`]),
    ...(to === null ? [] : [`s.last_at >= ${bind(to)}`]),
  ];
  return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`;
}

/** Adds the sessions that began before the window and have requests inside, by the first of those. */
function goingOn(window: Window, matching: string, draft: Draft): string {
  if (window.from === null) return '';
  const { organization } = draft;
  return `
    union all
    select s.session_id, inside.created_at as began
      from (${acrossBound(window.from, 's.session_id', draft, matching)}) s
      cross join lateral (
        select r.created_at from assay.requests r
         where r.organization_id = ${organization} and r.session_id = s.session_id and r.source <> 'evaluator'
               ${windowCondition(window, 'r.created_at', draft)}
         order by r.created_at limit 1) inside`;
}

/**
 * Writes the select of the sessions that began before a moment and were not over then: short ones, which can have begun six
 * hours before at most, and long ones.
 */
export function acrossBound(
  moment: Date,
  columns: string,
  { parameters, organization }: Draft,
  matching: string,
): string {
  const bound = parameters.bind(moment.toISOString(), 'timestamptz');
  const select = `select ${columns} from assay.sessions s where s.organization_id = ${organization} and s.first_at < ${bound} and s.last_at >= ${bound}${matching}`;
  return `${select} and not s.is_long and s.first_at >= ${bound} - interval '6 hours' union all ${select} and s.is_long`;
}

/** Counts the requests of these sessions inside a window. */
function countWithin(organizationId: string, ids: readonly string[], window: Window): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `
    select r.session_id, ${TOTALS} from assay.requests r
     where r.organization_id = ${organization} and r.session_id = any(${parameters.bind(ids, 'text[]')})
       and r.session_id is not null and r.source <> 'evaluator'${windowCondition(window, 'r.created_at', draft)}
     group by r.session_id`;
  return finish(draft, text);
}

/** Selects one session with the totals of all its requests. */
export function oneSession(organizationId: string, sessionId: string): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `select ${OWN}, ${COUNTED} from assay.sessions s
    where s.organization_id = ${organization} and s.session_id = ${parameters.bind(sessionId, 'text')}`;
  return finish(draft, text);
}
