import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  AlertBody,
  AlertHistoryPage,
  AlertHistoryQuery,
  AlertJson,
  AlertPatch,
  AlertTestBody,
  AlertTestJson,
} from '#core/contracts/alert.ts';
import type { AlertService } from '../alerts/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply, uuids } from './declare.ts';

export type AlertRoutesOptions = { keys: Keys; alerts: AlertService };

const TAG = 'Alerts';

const EXAMPLE: AlertBody = {
  name: 'Error rate',
  query: { measures: [{ metric: 'errors', aggregate: 'avg' }], groupBy: ['model'] },
  window_minutes: 5,
  comparison: '>',
  threshold: 0.05,
  for_minutes: 5,
};

/** `/v1/alert…`: alerts on metrics. */
export function alertRoutes({ keys, alerts }: AlertRoutesOptions) {
  const one = { params: uuids({ id: 'alert' }), response: reply(AlertJson) };
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/alert', ({ key }) => alerts.list(key.organizationId), {
      response: reply(Type.Array(AlertJson)),
      detail: { summary: 'Lists the alerts with their states, newest first' },
    })
    .get('/v1/alert/:id', ({ key, params }) => alerts.get(key.organizationId, params.id), {
      ...one,
      detail: { summary: 'Returns an alert with its state' },
    })
    .get(
      '/v1/alert/:id/history',
      ({ key, params, query }) => alerts.history(key.organizationId, params.id, query),
      {
        params: one.params,
        query: parameters(AlertHistoryQuery),
        response: reply(AlertHistoryPage),
        detail: { summary: 'Lists when an alert fired and was resolved, newest first' },
      },
    )
    .post('/v1/alert/test', ({ key, body }) => alerts.test(key.organizationId, body), {
      body: jsonBody(AlertTestBody, { alert: EXAMPLE, hours: 1 }),
      response: reply(AlertTestJson),
      detail: { summary: 'Evaluates an alert over the last hours without creating it' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/alert', ({ key, body }) => alerts.create(key.organizationId, body), {
      body: jsonBody(AlertBody, EXAMPLE),
      response: reply(AlertJson),
      detail: { summary: 'Creates an alert, which is evaluated at once and then each minute' },
    })
    .patch('/v1/alert/:id', ({ key, params, body }) => alerts.change(key.organizationId, params.id, body), {
      ...one,
      body: jsonBody(AlertPatch, { threshold: 0.1 }),
      detail: { summary: 'Changes the fields of an alert that the body names' },
    })
    .delete('/v1/alert/:id', ({ key, params }) => alerts.remove(key.organizationId, params.id), {
      params: one.params,
      response: reply(Type.Null()),
      detail: { summary: 'Deletes an alert with its history; firing groups are resolved' },
    });
  return new Elysia({ name: 'api/alerts' }).use(reading).use(writing);
}
