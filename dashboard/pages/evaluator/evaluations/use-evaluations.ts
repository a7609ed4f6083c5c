/** Loads a page of evaluations. */
import { call } from '../../../client/call.ts';
import type { Evaluation } from '../../../client/evaluators.ts';
import { type Resource, useResource } from '../../../client/resource.ts';
import { type Filters, queryBodies } from './query.ts';

/** Evaluations end while the list is read. */
const POLL_MS = 5_000;

/** Returns a page, and perhaps some beyond it, the newest first. */
export function useEvaluations(evaluatorId: string, filters: Filters): Resource<Evaluation[]> {
  const bodies = queryBodies(evaluatorId, filters);
  return useResource(
    `evaluations ${JSON.stringify(bodies)}`,
    async (signal) => {
      const lists = await Promise.all(
        bodies.map((body) => call<Evaluation[]>('POST', '/v1/evaluation/query', body, signal)),
      );
      return lists.flat().sort((a, b) => Number(b.id) - Number(a.id));
    },
    { everyMs: POLL_MS },
  );
}
