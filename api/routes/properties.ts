import { Type } from '@sinclair/typebox';
import { PropertyName, PropertyQueryBody, PropertySearchBody, ScoreKey } from '#core/contracts/names.ts';
import type { PropertyService } from '../properties/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply } from './declare.ts';

export type PropertyRoutesOptions = { keys: Keys; properties: PropertyService };

/** `/v1/property…` and `/v1/score/keys`: the names that requests carry. */
export function propertyRoutes({ keys, properties }: PropertyRoutesOptions) {
  return authorized(keys, 'read', 'Properties and scores')
    .get('/v1/property/keys', ({ key }) => properties.names(key.organizationId), {
      response: reply(Type.Array(Type.String())),
      detail: { summary: 'Lists the names of properties, the most frequent first' },
    })
    .post(
      '/v1/property/query',
      async ({ key }) => (await properties.names(key.organizationId)).map((property) => ({ property })),
      {
        body: jsonBody(PropertyQueryBody, {}),
        response: reply(Type.Array(PropertyName)),
        detail: { summary: 'Lists the same names, each in an object' },
      },
    )
    .post(
      '/v1/property/:key/search',
      ({ key, params, body }) => properties.searchValues(key.organizationId, params.key, body),
      {
        body: jsonBody(PropertySearchBody, { searchTerm: 'pro' }),
        response: reply(Type.Array(Type.String())),
        detail: { summary: 'Lists values of a property that contain a text, the most frequent first' },
      },
    )
    .get('/v1/score/keys', ({ key }) => properties.scoreKeys(key.organizationId), {
      response: reply(Type.Array(ScoreKey)),
      detail: { summary: 'Lists the keys of scores, with the range of their values' },
    });
}
