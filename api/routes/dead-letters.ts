import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  DeadLetterJson,
  DeadLetterPage,
  DeadLettersQuery,
  RetriedJson,
} from '#core/contracts/dead-letter.ts';
import type { DeadLetterService } from '../dead-letters/mod.ts';
import { authorized, type Keys } from './access.ts';
import { parameters, reply, wholeId } from './declare.ts';

export type DeadLetterRoutesOptions = { keys: Keys; deadLetters: DeadLetterService };

const TAG = 'Dead letters';
const params = wholeId('dead letter');

/** `/v1/dead-letter…`: log entries that could not be stored. */
export function deadLetterRoutes({ keys, deadLetters }: DeadLetterRoutesOptions) {
  const reading = authorized(keys, 'read', TAG)
    .get('/v1/dead-letter', ({ key, query }) => deadLetters.list(key.organizationId, query), {
      query: parameters(DeadLettersQuery),
      response: reply(DeadLetterPage),
      detail: { summary: 'Lists log entries that could not be stored, with the reasons, newest first' },
    })
    .get('/v1/dead-letter/:id', ({ key, params }) => deadLetters.get(key.organizationId, params.id), {
      params,
      response: reply(DeadLetterJson),
      detail: { summary: 'Returns one dead letter with the beginnings of its parts' },
    });
  const writing = authorized(keys, 'write', TAG)
    .post(
      '/v1/dead-letter/:id/retry',
      ({ key, params }) => deadLetters.retry(key.organizationId, params.id),
      {
        params,
        response: reply(RetriedJson),
        detail: { summary: 'Stores the entry of a dead letter, and deletes the letter when that succeeds' },
      },
    )
    .delete('/v1/dead-letter/:id', ({ key, params }) => deadLetters.drop(key.organizationId, params.id), {
      params,
      response: reply(Type.Null()),
      detail: { summary: 'Deletes a dead letter with its entry, which is never stored then' },
    });
  return new Elysia({ name: 'api/dead-letters' }).use(reading).use(writing);
}
