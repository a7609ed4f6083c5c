/** One thing of each kind that paths of the management API name, so that every documented route can be called. */
import { newRequestId } from '#platform/process/ids.ts';
import { insertEvaluations } from '../integration/api/evaluators/seed-evaluations.ts';
import type { EvaluatorApi } from './evaluators-process.ts';
import { BOOLEAN, PYTHON } from './evaluators-process.ts';
import { insertRequests } from './seed-requests.ts';

export type ApiExamples = {
  /** Returns a route's path with the ids of things that are there. */
  pathOf(method: string, path: string): string;
  /** Texts by which another organization would recognize these things. */
  marks: string[];
};

/** Makes them, in the own organization. */
export async function seedExamples(api: EvaluatorApi): Promise<ApiExamples> {
  const [request] = await insertRequests(api.database.sql, api.own.organizationId, [
    { request_id: newRequestId() },
  ]);
  const { request_id, created_at } = request!;
  const { id: evaluatorId } = await api.make('/v1/evaluator', { name: 'Seeded', ...PYTHON });
  const { id: deletedId } = await api.make('/v1/evaluator', { name: 'To delete', ...BOOLEAN });
  const { id: onlineId } = await api.make(`/v1/evaluator/${evaluatorId}/onlineEvaluators`, {
    config: { sampleRate: 1, filter: 'all' },
  });
  const { id: runId } = await api.make(`/v1/evaluator/${evaluatorId}/run`, { filter: 'all' });
  await api.make('/v1/provider-keys/openai', { key: 'sk-of-the-owner' }, 'PUT');
  const of = { evaluator_id: evaluatorId, request_id, created_at };
  await insertEvaluations(api, [
    { ...of, state: 'error', error_code: 'judge_timeout' },
    { ...of, state: 'pending', probe: 'repeat' },
  ]);
  const evaluations = await api.make<{ id: string; state: string }[]>('/v1/evaluation/query', {});
  const evaluationIn = (state: string) => evaluations.find((one) => one.state === state)!.id;
  const { id: keyId } = await api.make('/v1/keys', { name: 'Seeded', scopes: ['read'] });
  const [pending, failed] = [evaluationIn('pending'), evaluationIn('error')];

  function pathOf(method: string, path: string): string {
    if (path.startsWith('/v1/request/:id')) return path.replace(':id', request_id);
    if (path === '/v1/evaluation/:id/cancel') return path.replace(':id', pending);
    if (path.startsWith('/v1/evaluation/:id')) return path.replace(':id', failed);
    if (method === 'DELETE' && path === '/v1/evaluator/:id') return path.replace(':id', deletedId);
    if (path.startsWith('/v1/keys/')) return path.replace(':id', keyId);
    return path
      .replace('/onlineEvaluators/:onlineId', `/onlineEvaluators/${onlineId}`)
      .replace('/run/:runId', `/run/${runId}`)
      .replace(':id', evaluatorId)
      .replace(':provider', 'openai');
  }
  return { pathOf, marks: [request_id, evaluatorId, deletedId, onlineId, runId, keyId] };
}
