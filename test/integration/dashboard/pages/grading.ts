/** Criteria, queues and grades for stories of pages. */
import type { Stage } from '../../../support/browser/mod.ts';
import { callAs } from './as.ts';

type Given = Pick<Stage, 'organization' | 'product'>;

const BOOLEAN = { type: 'boolean' };
export const SCALE = { type: 'scale', min: 1, max: 5, step: 1 };

/** Makes a criterion; returns its id. */
export async function makeCriterion(given: Given, name: string, kind: object = BOOLEAN, more: object = {}) {
  return (await callAs<{ id: string }>(given, 'POST', '/v1/criterion', { name, kind, ...more })).id;
}

/** Grades a request as somebody. */
export function gradeAs(given: Given, author: string, requestId: string, body: object): Promise<unknown> {
  return callAs(given, 'PUT', `/v1/request/${requestId}/grade`, { author, ...body });
}

/** One person's grades of a request, by criterion. */
export async function gradesBy(given: Given, author: string, requestId: string) {
  type Grade = { author: string | null; criterion_id: string; value: unknown; comment: string | null };
  const grades = await callAs<Grade[]>(given, 'GET', `/v1/request/${requestId}/grades`);
  return new Map(
    grades
      .filter((grade) => grade.author === author)
      .map(({ criterion_id, value, comment }) => [criterion_id, { value, comment }]),
  );
}

/** A question and its answer, as a record has them. */
export const talk = (question: string, answer: string) => ({
  request_text: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: question }] }),
  response_text: JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
  }),
});

/** Makes a queue of a new request for each question, in their order; returns its id and the requests. */
export async function makeQueue(
  given: Given,
  {
    name,
    criterionIds,
    questions,
    perItem = 1,
  }: {
    name: string;
    criterionIds: readonly string[];
    questions: readonly string[];
    perItem?: number;
  },
) {
  const rows = await given.organization.insert(questions.map((text) => talk(text, `Answer to ${text}`)));
  const requestIds = rows.map(({ request_id }) => request_id);
  const body = { name, criterionIds, perItem, source: { requestIds } };
  const { id } = await callAs<{ id: string }>(given, 'POST', '/v1/review-queue', body);
  return { id, requestIds };
}

/** Has a browser grade under a name. */
export async function nameReviewer({ context }: Pick<Stage, 'context'>, reviewer: string): Promise<void> {
  const kept = JSON.stringify(JSON.stringify({ reviewer }));
  await context.addInitScript(`localStorage.setItem('assay.preferences', ${kept})`);
}
