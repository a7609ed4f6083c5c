import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ErasureBody } from '#core/contracts/erasure.ts';
import { DeletionCountJson, DeletionJson, type ErasureService } from '../erasure/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply, uuids } from './declare.ts';

export type ErasureRoutesOptions = { keys: Keys; erasure: ErasureService };

const TAG = 'Requests';
const params = uuids({ id: 'deletion' });
const filter = { request: { user_id: { equals: 'user-17' } } };

/** `DELETE /v1/request/:id` and `/v1/request/delete…`: requests that are erased. */
export function erasureRoutes({ keys, erasure }: ErasureRoutesOptions) {
  const one = { params, response: reply(DeletionJson) };
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/request/delete', ({ key }) => erasure.list(key.organizationId), {
      response: reply(Type.Array(DeletionJson)),
      detail: { summary: 'Lists the deletions by filter, the newest first' },
    })
    .get('/v1/request/delete/:id', ({ key, params }) => erasure.get(key.organizationId, params.id), {
      ...one,
      detail: { summary: 'Returns one deletion by filter and its progress' },
    });
  const writing = authorized(keys, 'write', TAG)
    .delete('/v1/request/:id', ({ key, params }) => erasure.erase(key, params.id), {
      response: reply(Type.Null()),
      detail: { summary: 'Erases one request with all that belongs to it; its id stays taken' },
    })
    .post('/v1/request/delete', ({ key, body }) => erasure.start(key, body), {
      body: jsonBody(ErasureBody, { filter, dryRun: true }),
      response: reply(Type.Union([DeletionJson, DeletionCountJson])),
      detail: {
        summary: 'Erases the requests that pass a filter, in the background, or counts them with dryRun',
      },
    })
    .post(
      '/v1/request/delete/:id/cancel',
      ({ key, params }) => erasure.cancel(key.organizationId, params.id),
      {
        ...one,
        detail: { summary: 'Ends a deletion by filter early; what is deleted stays deleted' },
      },
    );
  return new Elysia({ name: 'api/erasure' }).use(reading).use(writing);
}
