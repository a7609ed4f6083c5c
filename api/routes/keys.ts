import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  ChangeKeyBody,
  CreateKeyBody,
  KeyJson,
  ListKeysQuery,
  NewKeyJson,
  RotateKeyBody,
} from '#core/contracts/keys.ts';
import type { KeyService } from '../keys/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply, uuids } from './declare.ts';

export type KeyRoutesOptions = { keys: Keys; apiKeys: KeyService };

const EXAMPLE: CreateKeyBody = {
  name: 'nightly report',
  scopes: ['read'],
  expires_at: '2099-01-01T00:00:00.000Z',
  paths: ['/v1/request/*'],
  owner: 'ada@example.com',
};

/** `/v1/keys…`: the organization's API keys. */
export function keyRoutes({ keys, apiKeys }: KeyRoutesOptions) {
  const params = uuids({ id: 'API key' });
  const one = { params, response: reply(KeyJson) };
  const routes = authorized(keys, 'write', 'API keys')
    .post('/v1/keys', ({ key, body }) => apiKeys.create(key, body), {
      body: jsonBody(CreateKeyBody, EXAMPLE),
      response: reply(NewKeyJson),
      detail: { summary: "Makes a key no wider than the caller's, and shows it this once" },
    })
    .get('/v1/keys', ({ key, query }) => apiKeys.list(key, query), {
      query: parameters(ListKeysQuery),
      response: reply(Type.Array(KeyJson)),
      detail: { summary: 'Lists the keys of the organization, newest first, a page at a time' },
    })
    .get('/v1/keys/:id', ({ key, params }) => apiKeys.get(key, params.id), {
      ...one,
      detail: { summary: 'Returns one key, without the key itself' },
    })
    .patch('/v1/keys/:id', ({ key, params, body }) => apiKeys.change(key, params.id, body), {
      ...one,
      body: jsonBody(ChangeKeyBody, { name: 'weekly report', tags: ['reports'] }),
      detail: { summary: "Changes a key, within what the caller's own may do; effective within a second" },
    })
    .delete('/v1/keys/:id', ({ key, params }) => apiKeys.revoke(key, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Revokes a key within a second, for ever' },
    })
    .post('/v1/keys/:id/rotate', ({ key, params, body }) => apiKeys.rotate(key, params.id, body), {
      params,
      body: jsonBody(RotateKeyBody, { overlapSeconds: 86_400 }),
      response: reply(NewKeyJson),
      detail: { summary: 'Makes a key like this one with a new secret; this one works for a while more' },
    });
  return new Elysia({ name: 'api/keys' }).use(routes);
}
