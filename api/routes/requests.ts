import type { KeyDirectory } from '#platform/keys/mod.ts';
import type { RequestService } from '../requests/mod.ts';
import { readJson } from './json-body.ts';
import { guarded, routesApp } from './route.ts';
import { dataReply, recordsReply } from './success.ts';

export type RequestRoutesOptions = {
  keys: Pick<KeyDirectory, 'find'>;
  requests: RequestService;
  /** Told what cut an answer short after its beginning had gone out. */
  onBroken(error: unknown): void;
};

const NOTHING = 'null';

/** `/v1/request…`: authorizes, reads the body, calls the service, answers. */
export function requestRoutes({ keys, requests, onBroken }: RequestRoutesOptions) {
  const writing = (write: (organizationId: string, requestId: string, body: unknown) => Promise<void>) =>
    guarded(keys, 'write', async ({ organizationId }, { request, params }) => {
      await write(organizationId, params.id ?? '', await readJson(request));
      return dataReply(NOTHING);
    });

  return routesApp('api/requests', [
    {
      method: 'POST',
      path: '/v1/request/query',
      handle: guarded(keys, 'read', async ({ organizationId }, { request }) =>
        recordsReply(await requests.query(organizationId, await readJson(request)), onBroken),
      ),
    },
    {
      method: 'POST',
      path: '/v1/request/query-ids',
      handle: guarded(keys, 'read', async ({ organizationId }, { request }) =>
        recordsReply(await requests.queryIds(organizationId, await readJson(request)), onBroken),
      ),
    },
    {
      method: 'POST',
      path: '/v1/request/count/query',
      handle: guarded(keys, 'read', async ({ organizationId }, { request }) =>
        dataReply(String(await requests.count(organizationId, await readJson(request)))),
      ),
    },
    {
      method: 'GET',
      path: '/v1/request/:id',
      handle: guarded(keys, 'read', async ({ organizationId }, { params }) =>
        dataReply(await requests.get(organizationId, params.id ?? '')),
      ),
    },
    {
      method: 'GET',
      path: '/v1/request/:id/delivery',
      handle: guarded(keys, 'read', async ({ organizationId }, { params }) =>
        dataReply(await requests.getDelivery(organizationId, params.id ?? '')),
      ),
    },
    { method: 'POST', path: '/v1/request/:id/feedback', handle: writing(requests.setFeedback) },
    { method: 'POST', path: '/v1/request/:id/score', handle: writing(requests.setScores) },
    { method: 'PUT', path: '/v1/request/:id/property', handle: writing(requests.setProperty) },
  ]);
}
