import type { KeyDirectory, Scope } from '#platform/keys/mod.ts';
import type { EvaluatorService } from '../evaluators/mod.ts';
import { readJson } from './json-body.ts';
import { guarded, type Handler, type Route, routesApp } from './route.ts';
import { dataReply } from './success.ts';

export type EvaluatorRoutesOptions = {
  keys: Pick<KeyDirectory, 'find'>;
  evaluators: EvaluatorService;
};

/** What a call is about. Ids are empty where the path has none. */
type About = { organizationId: string; id: string; innerId: string; request: Request };

/** `/v1/evaluator…` and `/v1/evaluation…`: authorizes, reads the body, calls the service, answers. */
export function evaluatorRoutes({ keys, evaluators: service }: EvaluatorRoutesOptions) {
  const { evaluators, online, runs, evaluations, tryOut, stats } = service;
  const answering =
    (scope: Scope) =>
    (work: (about: About) => Promise<unknown>): Handler =>
      guarded(keys, scope, async ({ organizationId }, { request, params }) => {
        const about = { organizationId, id: params.id ?? '', innerId: params.innerId ?? '', request };
        return dataReply(JSON.stringify((await work(about)) ?? null));
      });
  const reading = answering('read');
  const writing = answering('write');
  const post = (path: string, handle: Handler): Route => ({ method: 'POST', path, handle });
  const get = (path: string, handle: Handler): Route => ({ method: 'GET', path, handle });
  const remove = (path: string, handle: Handler): Route => ({ method: 'DELETE', path, handle });

  return routesApp('api/evaluators', [
    post(
      '/v1/evaluator',
      writing(async (at) => evaluators.create(at.organizationId, await readJson(at.request))),
    ),
    post(
      '/v1/evaluator/query',
      reading(async (at) => evaluators.query(at.organizationId, await readJson(at.request))),
    ),
    post(
      '/v1/evaluator/llm/test',
      writing(async (at) => tryOut.llm(at.organizationId, await readJson(at.request))),
    ),
    post(
      '/v1/evaluator/python/test',
      writing(async (at) => tryOut.python(at.organizationId, await readJson(at.request))),
    ),
    post(
      '/v1/evaluator/external/test',
      writing(async (at) => tryOut.external(at.organizationId, await readJson(at.request))),
    ),
    get(
      '/v1/evaluator/:id',
      reading((at) => evaluators.get(at.organizationId, at.id)),
    ),
    {
      method: 'PUT',
      path: '/v1/evaluator/:id',
      handle: writing(async (at) => evaluators.change(at.organizationId, at.id, await readJson(at.request))),
    },
    remove(
      '/v1/evaluator/:id',
      writing((at) => evaluators.remove(at.organizationId, at.id)),
    ),
    post(
      '/v1/evaluator/:id/resume',
      writing((at) => evaluators.resume(at.organizationId, at.id)),
    ),
    get(
      '/v1/evaluator/:id/stats',
      reading((at) => stats(at.organizationId, at.id, new URL(at.request.url).searchParams)),
    ),
    post(
      '/v1/evaluator/:id/onlineEvaluators',
      writing(async (at) => online.create(at.organizationId, at.id, await readJson(at.request))),
    ),
    get(
      '/v1/evaluator/:id/onlineEvaluators',
      reading((at) => online.list(at.organizationId, at.id)),
    ),
    remove(
      '/v1/evaluator/:id/onlineEvaluators/:innerId',
      writing((at) => online.remove(at.organizationId, at.id, at.innerId)),
    ),
    post(
      '/v1/evaluator/:id/run',
      writing(async (at) => runs.create(at.organizationId, at.id, await readJson(at.request))),
    ),
    get(
      '/v1/evaluator/:id/runs',
      reading((at) => runs.list(at.organizationId, at.id)),
    ),
    get(
      '/v1/evaluator/:id/run/:innerId',
      reading((at) => runs.get(at.organizationId, at.id, at.innerId)),
    ),
    post(
      '/v1/evaluator/:id/run/:innerId/pause',
      writing((at) => runs.pause(at.organizationId, at.id, at.innerId)),
    ),
    post(
      '/v1/evaluator/:id/run/:innerId/resume',
      writing((at) => runs.resume(at.organizationId, at.id, at.innerId)),
    ),
    post(
      '/v1/evaluator/:id/run/:innerId/cancel',
      writing((at) => runs.cancel(at.organizationId, at.id, at.innerId)),
    ),
    post(
      '/v1/evaluation/query',
      reading(async (at) => evaluations.query(at.organizationId, await readJson(at.request))),
    ),
    get(
      '/v1/evaluation/:id',
      reading((at) => evaluations.get(at.organizationId, at.id)),
    ),
    post(
      '/v1/evaluation/:id/retry',
      writing((at) => evaluations.retry(at.organizationId, at.id)),
    ),
    post(
      '/v1/evaluation/:id/cancel',
      writing((at) => evaluations.cancel(at.organizationId, at.id)),
    ),
  ]);
}
