import { Parameters, type Statement } from '#core/filter/mod.ts';

/** Sets a request's rating: one row when there is such a request. */
export function feedbackStatement(
  organizationId: string,
  requestId: string,
  feedback: { rating: boolean; at: Date },
): Statement {
  const parameters = new Parameters();
  const text = `
    update assay.requests
    set feedback_rating = ${parameters.bind(feedback.rating, 'bool')},
      feedback_created_at = ${parameters.bind(feedback.at.toISOString(), 'timestamptz')}
    where organization_id = ${parameters.bind(organizationId, 'uuid')}
      and request_id = ${parameters.bind(requestId, 'text')}
    returning 1`;
  return { text, values: parameters.values };
}
