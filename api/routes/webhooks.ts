import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  ChangeWebhookBody,
  CreateWebhookBody,
  DeliveriesQuery,
  DeliveryJson,
  DeliveryPage,
  NewWebhookJson,
  RedeliverBody,
  RedeliveredJson,
  RotateWebhookBody,
  WebhookJson,
} from '#core/contracts/webhook.ts';
import type { WebhookService } from '../webhooks/mod.ts';
import { authorized, type Keys } from './access.ts';
import { deliveryOfWebhook, jsonBody, parameters, reply, uuids } from './declare.ts';

export type WebhookRoutesOptions = { keys: Keys; webhooks: WebhookService };

const TAG = 'Webhooks';
const EXAMPLE: CreateWebhookBody = {
  url: 'https://example.com/hooks/assay',
  events: ['request.logged', 'score.written'],
  filter: { response: { status: { gte: 500 } } },
};
const params = uuids({ id: 'webhook' });

/** `/v1/webhook…`: addresses that events are posted to, and their deliveries. */
export function webhookRoutes(options: WebhookRoutesOptions) {
  return new Elysia({ name: 'api/webhooks' })
    .use(readingRoutes(options))
    .use(writingRoutes(options))
    .use(sendingRoutes(options));
}

function readingRoutes({ keys, webhooks }: WebhookRoutesOptions) {
  return authorized(keys, 'read', TAG)
    .get('/v1/webhook', ({ key }) => webhooks.list(key.organizationId), {
      response: reply(Type.Array(WebhookJson)),
      detail: { summary: 'Lists the webhooks of the organization, newest first' },
    })
    .get('/v1/webhook/:id', ({ key, params }) => webhooks.get(key.organizationId, params.id), {
      params,
      response: reply(WebhookJson),
      detail: { summary: 'Returns one webhook, without its secret' },
    })
    .get(
      '/v1/webhook/:id/deliveries',
      ({ key, params, query }) => webhooks.deliveries(key.organizationId, params.id, query),
      {
        params,
        query: parameters(DeliveriesQuery),
        response: reply(DeliveryPage),
        detail: { summary: 'Lists the deliveries of a webhook with their attempts, newest first' },
      },
    )
    .get(
      '/v1/webhook/:id/deliveries/:deliveryId',
      ({ key, params }) => webhooks.delivery(key.organizationId, params.id, params.deliveryId),
      {
        params: deliveryOfWebhook,
        response: reply(DeliveryJson),
        detail: { summary: 'Returns one delivery' },
      },
    );
}

function writingRoutes({ keys, webhooks }: WebhookRoutesOptions) {
  return authorized(keys, 'write', TAG)
    .post('/v1/webhook', ({ key, body }) => webhooks.create(key.organizationId, body), {
      body: jsonBody(CreateWebhookBody, EXAMPLE),
      response: reply(NewWebhookJson),
      detail: { summary: 'Creates a webhook, and returns its secret this once' },
    })
    .patch(
      '/v1/webhook/:id',
      ({ key, params, body }) => webhooks.change(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(ChangeWebhookBody, { events: ['alert.fired'], filter: null, state: 'active' }),
        response: reply(WebhookJson),
        detail: { summary: 'Changes, pauses or resumes a webhook' },
      },
    )
    .delete('/v1/webhook/:id', ({ key, params }) => webhooks.remove(key.organizationId, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Deletes a webhook with its deliveries' },
    })
    .post(
      '/v1/webhook/:id/rotate',
      ({ key, params, body }) => webhooks.rotate(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(RotateWebhookBody, { overlapSeconds: 86_400 }),
        response: reply(NewWebhookJson),
        detail: {
          summary: 'Creates a new secret; for a while, messages also carry the signature of the old one',
        },
      },
    );
}

function sendingRoutes({ keys, webhooks }: WebhookRoutesOptions) {
  return authorized(keys, 'write', TAG)
    .post('/v1/webhook/:id/test', ({ key, params }) => webhooks.test(key.organizationId, params.id), {
      params,
      response: reply(DeliveryJson),
      detail: { summary: 'Sends a test message, once' },
    })
    .post(
      '/v1/webhook/:id/redeliver',
      ({ key, params, body }) => webhooks.redeliverFailed(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(RedeliverBody, { since: '2026-11-23T00:00:00.000Z' }),
        response: reply(RedeliveredJson),
        detail: { summary: 'Redelivers all deliveries that failed since a given time' },
      },
    )
    .post(
      '/v1/webhook/:id/deliveries/:deliveryId/redeliver',
      ({ key, params }) => webhooks.redeliver(key.organizationId, params.id, params.deliveryId),
      {
        params: deliveryOfWebhook,
        response: reply(DeliveryJson),
        detail: { summary: 'Redelivers a delivery at once' },
      },
    );
}
