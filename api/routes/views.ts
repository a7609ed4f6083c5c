import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ViewBody, ViewJson, ViewPatch, ViewsQuery } from '#core/contracts/view.ts';
import type { ViewService } from '../views/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply, uuids } from './declare.ts';

export type ViewRoutesOptions = { keys: Keys; views: ViewService };

const TAG = 'Views';
const EXAMPLE: ViewBody = {
  name: 'Slow errors',
  page: 'requests',
  query: 'q=status:%3E=500+latency:%3E10s&range=24h&sort=-latency',
};

/** `/v1/view…`: named states of the dashboard's pages, shared by all who log in to the organization. */
export function viewRoutes({ keys, views }: ViewRoutesOptions) {
  const params = uuids({ id: 'view' });
  const reading = authorized(keys, 'read', TAG).get(
    '/v1/view',
    ({ key, query }) => views.list(key.organizationId, query),
    {
      query: parameters(ViewsQuery),
      response: reply(Type.Array(ViewJson)),
      detail: { summary: 'Lists the saved views of the organization, by page and name' },
    },
  );
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/view', ({ key, body }) => views.create(key.organizationId, body), {
      body: jsonBody(ViewBody, EXAMPLE),
      response: reply(ViewJson),
      detail: { summary: 'Saves a view of a page of the dashboard' },
    })
    .patch('/v1/view/:id', ({ key, params, body }) => views.change(key.organizationId, params.id, body), {
      params,
      body: jsonBody(ViewPatch, { name: 'Very slow errors' }),
      response: reply(ViewJson),
      detail: { summary: "Changes a view's name or query" },
    })
    .delete('/v1/view/:id', ({ key, params }) => views.remove(key.organizationId, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Deletes a view' },
    });
  return new Elysia({ name: 'api/views' }).use(reading).use(writing);
}
