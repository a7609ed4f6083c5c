import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ExportBody } from '#core/contracts/export.ts';
import {
  CountBody,
  FeedbackBody,
  PropertyBody,
  QueryBody,
  QueryIdsBody,
  RecordParameters,
  RequestCount,
  ScoreBody,
} from '#core/contracts/query.ts';
import { RequestRecord } from '#core/contracts/record.ts';
import { Delivery, type RequestService } from '../requests/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply, textReply } from './declare.ts';
import { analyticsReply, dataReply, exportReply, recordsReply } from './reply.ts';

export type RequestRoutesOptions = {
  keys: Keys;
  requests: RequestService;
  /** Receives the error that ended a reply after its beginning was sent. */
  onBroken(error: unknown): void;
};

const TAG = 'Requests';
const query = { filter: { request: { model: { equals: 'gpt-4o-mini' } } } };

/** `/v1/request…`: logged requests, found and annotated. */
export function requestRoutes({ keys, requests, onBroken }: RequestRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .post(
      '/v1/request/query',
      async ({ key, request, body }) =>
        recordsReply(await requests.query(key.organizationId, body), { request, onBroken }),
      {
        body: jsonBody(QueryBody, { ...query, sort: { created_at: 'desc' }, limit: 10 }),
        response: reply(Type.Array(RequestRecord)),
        detail: { summary: 'Lists the requests that pass a filter, a page at a time' },
      },
    )
    .post(
      '/v1/request/query-clickhouse',
      async ({ key, request, body }) => {
        const records = await requests.queryAnalytics(key.organizationId, body);
        return analyticsReply(await recordsReply(records, { request, onBroken }));
      },
      {
        body: jsonBody(QueryBody, { filter: { request_response_rmt: { status: { gte: 500 } } } }),
        response: reply(Type.Array(RequestRecord)),
        detail: {
          summary: 'Lists requests as /v1/request/query does; takes more section names in its filter',
        },
      },
    )
    .post(
      '/v1/request/query-ids',
      async ({ key, request, body }) =>
        recordsReply(await requests.queryIds(key.organizationId, body), { request, onBroken }),
      {
        body: jsonBody(QueryIdsBody, { requestIds: ['01KADVNF2B4E3R8V6W0XJ5T9QZ'] }),
        response: reply(Type.Array(RequestRecord)),
        detail: {
          summary: 'Returns the requests with these ids, in their order; an unknown id is left out',
        },
      },
    )
    .post('/v1/request/count/query', ({ key, body }) => requests.countAtMost(key.organizationId, body), {
      body: jsonBody(CountBody, { q: 'status:>=500 latency:>10s -user:bot', atMost: 10_001 }),
      response: reply(RequestCount),
      detail: { summary: 'Counts the requests that pass a filter, up to a number if one is given' },
    })
    .post(
      '/v1/request/export',
      async ({ key, admit, body }) =>
        exportReply(await requests.export(key.organizationId, body), { admit, onBroken }),
      {
        body: jsonBody(ExportBody, { ...query, format: 'ndjson' }),
        response: textReply({
          'application/x-ndjson': 'A record a line',
          'text/csv': 'A line of names, and a record a line',
        }),
        detail: { summary: 'Streams every request that passes a filter, the oldest first' },
      },
    )
    .get(
      '/v1/request/:id',
      async ({ key, params, query }) =>
        dataReply(await requests.get(key.organizationId, params.id, query.includeExpected === 'true')),
      {
        query: parameters(RecordParameters),
        response: reply(RequestRecord),
        detail: { summary: 'Returns one request' },
      },
    )
    .get(
      '/v1/request/:id/delivery',
      ({ key, params }) => requests.getDelivery(key.organizationId, params.id),
      {
        response: reply(Delivery),
        detail: { summary: 'Tells how the response came about: attempts, cache, usage' },
      },
    );
  const writing = authorized(keys, 'write', TAG)
    .post(
      '/v1/request/:id/feedback',
      ({ key, params, body }) => requests.setFeedback(key.organizationId, params.id, body),
      {
        body: jsonBody(FeedbackBody, { rating: true }),
        response: reply(Type.Null()),
        detail: { summary: 'Rates the response of a request, in place of an earlier rating' },
      },
    )
    .post(
      '/v1/request/:id/score',
      ({ key, params, body }) => requests.setScores(key.organizationId, params.id, body),
      {
        body: jsonBody(ScoreBody, { scores: { helpfulness: 0.75, polite: true } }),
        response: reply(Type.Null()),
        detail: { summary: 'Sets scores of a request, beside those that it has' },
      },
    )
    .put(
      '/v1/request/:id/property',
      ({ key, params, body }) => requests.setProperty(key.organizationId, params.id, body),
      {
        body: jsonBody(PropertyBody, { key: 'release', value: '2026-11' }),
        response: reply(Type.Null()),
        detail: { summary: 'Sets a property of a request, in place of one of the same name' },
      },
    );
  return new Elysia({ name: 'api/requests' }).use(reading).use(writing).use(undoing({ keys, requests }));
}

/** Takes annotations of requests back. */
function undoing({ keys, requests }: Pick<RequestRoutesOptions, 'keys' | 'requests'>) {
  const response = reply(Type.Null());
  return authorized(keys, 'write', TAG)
    .delete(
      '/v1/request/:id/feedback',
      ({ key, params }) => requests.removeFeedback(key.organizationId, params.id),
      { response, detail: { summary: 'Takes the rating of a request back' } },
    )
    .delete(
      '/v1/request/:id/score/:key',
      ({ key, params }) => requests.removeScore(key.organizationId, params.id, params.key),
      { response, detail: { summary: 'Takes a score of a request back, whoever set it' } },
    )
    .delete(
      '/v1/request/:id/property/:key',
      ({ key, params }) => requests.removeProperty(key.organizationId, params.id, params.key),
      {
        response,
        detail: { summary: 'Takes a property of a request back, also one that was sent with it' },
      },
    );
}
