import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ProviderKeyBody, ProviderKeyJson, type ProviderKeyService } from '../provider-keys/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, provider, reply } from './declare.ts';

export type ProviderKeyRoutesOptions = { keys: Keys; providerKeys: ProviderKeyService };

const TAG = 'Provider keys';

/** `/v1/provider-keys…`: keys of providers, stored for the organization's own calls. */
export function providerKeyRoutes({ keys, providerKeys }: ProviderKeyRoutesOptions) {
  const one = { params: provider, response: reply(ProviderKeyJson) };
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/provider-keys', ({ key }) => providerKeys.list(key.organizationId), {
      response: reply(Type.Array(ProviderKeyJson)),
      detail: { summary: 'Lists the stored provider keys, which are never shown' },
    })
    .get(
      '/v1/provider-keys/:provider',
      ({ key, params }) => providerKeys.get(key.organizationId, params.provider),
      { ...one, detail: { summary: 'Tells of the key that is stored for one provider' } },
    );
  const writing = authorized(keys, 'write', TAG)
    .put(
      '/v1/provider-keys/:provider',
      ({ key, params, body }) => providerKeys.set(key.organizationId, params.provider, body),
      {
        ...one,
        body: jsonBody(ProviderKeyBody, { key: 'sk-proj-0123456789abcdefghij' }),
        detail: { summary: 'Stores a provider key, in place of one that is there' },
      },
    )
    .delete(
      '/v1/provider-keys/:provider',
      ({ key, params }) => providerKeys.remove(key.organizationId, params.provider),
      {
        params: provider,
        response: reply(Type.Null()),
        detail: { summary: 'Deletes the stored key of a provider' },
      },
    );
  return new Elysia({ name: 'api/provider-keys' }).use(reading).use(writing);
}
