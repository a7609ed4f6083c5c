/** Criteria, and what people graded by them, as the API has both. */
import type { CriterionJson, GradeBody, GradeWithHistoryJson } from '#core/contracts/grade.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { authorOf } from '../../state/reviewer.ts';

const pathOf = (requestId: string, rest: string) => `/v1/request/${encodeURIComponent(requestId)}/${rest}`;

/** Names the grades of a request among all resources. */
export const gradesKey = (requestId: string) => `grades ${requestId}`;

/**
 * Loads what people graded of a request.
 * @throws ApiFailure, AbortError
 */
export function loadGrades(requestId: string, signal: AbortSignal): Promise<GradeWithHistoryJson[]> {
  return call('GET', pathOf(requestId, 'grades'), undefined, signal);
}

/** Returns what people graded of a request. */
export function useGrades(requestId: string | null) {
  return useResource(requestId === null ? null : gradesKey(requestId), (signal) =>
    loadGrades(requestId!, signal),
  );
}

/**
 * Loads the criteria, the newest first.
 * @param archived the archived ones, rather than the others
 * @throws ApiFailure, AbortError
 */
export function loadCriteria(archived: boolean, signal: AbortSignal): Promise<CriterionJson[]> {
  return call('POST', '/v1/criterion/query', { archived }, signal);
}

/** Returns the criteria that are not archived, the newest first. */
export function useCriteria() {
  return useResource('criteria', (signal) => loadCriteria(false, signal));
}

/**
 * Grades a request as the person of this browser.
 * @throws ApiFailure
 */
export async function putGrade(
  requestId: string,
  { criterionId, value, comment }: Pick<GradeBody, 'criterionId' | 'value'> & { comment: string },
): Promise<void> {
  const body: GradeBody = { criterionId, value, comment: comment === '' ? null : comment, ...authorOf() };
  await call('PUT', pathOf(requestId, 'grade'), body);
}

/**
 * Takes a grade of the person of this browser back.
 * @throws ApiFailure
 */
export async function takeGradeBack(requestId: string, criterionId: string): Promise<void> {
  const query = new URLSearchParams({ criterionId, ...authorOf() });
  await call('DELETE', `${pathOf(requestId, 'grade')}?${query}`);
}
