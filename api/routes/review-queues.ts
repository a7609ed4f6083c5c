import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  NextItemJson,
  NextItemQuery,
  ReviewQueueBody,
  ReviewQueueJson,
  ReviewQueuePatch,
  ReviewQueueQueryBody,
  SkipBody,
  WholeReviewQueueJson,
} from '#core/contracts/review.ts';
import { Nullable } from '#core/contracts/shapes.ts';
import type { ReviewService } from '../review/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply, uuids } from './declare.ts';

export type ReviewQueueRoutesOptions = { keys: Keys; review: ReviewService };

const TAG = 'Review queues';
const params = uuids({ id: 'review queue' });

/** `/v1/review-queue…`: requests that wait for people's grades. */
export function reviewQueueRoutes({ keys, review }: ReviewQueueRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .post('/v1/review-queue/query', ({ key, body }) => review.query(key.organizationId, body), {
      body: jsonBody(ReviewQueueQueryBody, {}),
      response: reply(Type.Array(ReviewQueueJson)),
      detail: { summary: 'Lists the review queues, the newest first' },
    })
    .get('/v1/review-queue/:id', ({ key, params }) => review.get(key.organizationId, params.id), {
      params,
      response: reply(WholeReviewQueueJson),
      detail: { summary: 'Returns one review queue, with how far it is' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post('/v1/review-queue', ({ key, body }) => review.create(key.organizationId, body), {
      body: jsonBody(ReviewQueueBody, {
        name: 'This week',
        criterionIds: ['3e1f6c0a-2b4d-4f7a-9c55-8d0e6b7a1f20'],
        source: { q: 'status:200', sample: { n: 100, seed: 1 } },
        perItem: 2,
      }),
      response: reply(WholeReviewQueueJson),
      detail: { summary: 'Makes a queue of requests that people are to grade' },
    })
    .patch(
      '/v1/review-queue/:id',
      ({ key, params, body }) => review.rename(key.organizationId, params.id, body),
      {
        params,
        body: jsonBody(ReviewQueuePatch, { name: 'Last week' }),
        response: reply(ReviewQueueJson),
        detail: { summary: 'Renames a review queue' },
      },
    )
    .delete('/v1/review-queue/:id', ({ key, params }) => review.archive(key.organizationId, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Archives a review queue: it gives out no items' },
    })
    .get('/v1/review-queue/:id/next', ({ key, params, query }) => review.next(key, params.id, query), {
      params,
      query: parameters(NextItemQuery),
      response: reply(Nullable(NextItemJson, 'Null: there is nothing for this person now')),
      detail: {
        summary: 'Claims the next request of a queue for ten minutes; asking again renews the claim',
      },
    })
    .post('/v1/review-queue/:id/skip', ({ key, params, body }) => review.skip(key, params.id, body), {
      params,
      body: jsonBody(SkipBody, {
        requestId: '01KADVNF2B4E3R8V6W0XJ5T9QZ',
        reason: 'In a language I do not read',
      }),
      response: reply(Type.Null()),
      detail: { summary: 'Skips a request of a queue for one person' },
    });
  return new Elysia({ name: 'api/review-queues' }).use(reading).use(writing);
}
