import type { ApiKey, KeyDirectory, Scope } from '#platform/keys/mod.ts';
import type { ProviderKeyService } from '../provider-keys/mod.ts';
import { readJson } from './json-body.ts';
import { type Call, guarded, type Handler, routesApp } from './route.ts';
import { dataReply } from './success.ts';

export type ProviderKeyRoutesOptions = {
  keys: Pick<KeyDirectory, 'find'>;
  providerKeys: ProviderKeyService;
};

const ALL = '/v1/provider-keys';
const ONE = '/v1/provider-keys/:provider';

/** `/v1/provider-keys…`: authorizes, reads the body, calls the service, answers. */
export function providerKeyRoutes({ keys, providerKeys }: ProviderKeyRoutesOptions) {
  const answering = (scope: Scope, work: (key: ApiKey, call: Call) => Promise<unknown>): Handler =>
    guarded(keys, scope, async (key, call) => dataReply(JSON.stringify((await work(key, call)) ?? null)));
  const providerOf = ({ params }: Call) => params.provider ?? '';

  return routesApp('api/provider-keys', [
    {
      method: 'GET',
      path: ALL,
      handle: answering('read', ({ organizationId }) => providerKeys.list(organizationId)),
    },
    {
      method: 'GET',
      path: ONE,
      handle: answering('read', ({ organizationId }, call) =>
        providerKeys.get(organizationId, providerOf(call)),
      ),
    },
    {
      method: 'PUT',
      path: ONE,
      handle: answering('write', async ({ organizationId }, call) =>
        providerKeys.set(organizationId, providerOf(call), await readJson(call.request)),
      ),
    },
    {
      method: 'DELETE',
      path: ONE,
      handle: answering('write', ({ organizationId }, call) =>
        providerKeys.remove(organizationId, providerOf(call)),
      ),
    },
  ]);
}
