/** Ratings and tags that callers attach to a session. */
import type { Statement } from '#core/filter/mod.ts';
import { draftFor, finish } from './conditions.ts';

/** Sets a session's rating, or takes it back: one row when there is such a session. */
export function rateStatement(
  organizationId: string,
  sessionId: string,
  feedback: { rating: boolean | null; at: Date },
): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const at = feedback.rating === null ? null : feedback.at.toISOString();
  const text = `
    update assay.sessions
       set feedback_rating = ${parameters.bind(feedback.rating, 'bool')},
           feedback_created_at = ${parameters.bind(at, 'timestamptz')}
     where organization_id = ${organization} and session_id = ${parameters.bind(sessionId, 'text')}
    returning 1`;
  return finish(draft, text);
}

/** Sets a session's tag, or takes it away: one row when there is such a session. */
export function tagStatement(organizationId: string, sessionId: string, tag: string | null): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `
    update assay.sessions set tag = ${parameters.bind(tag, 'text')}
     where organization_id = ${organization} and session_id = ${parameters.bind(sessionId, 'text')}
    returning 1`;
  return finish(draft, text);
}

/** Selects whether the organization has any session: one row, `has`. */
export function hasSessionStatement(organizationId: string): Statement {
  const draft = draftFor(organizationId);
  const text = `
    select exists (select from assay.sessions s where s.organization_id = ${draft.organization}) as has`;
  return finish(draft, text);
}
