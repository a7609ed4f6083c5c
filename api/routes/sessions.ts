import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  Conversation,
  ConversationParameters,
  SessionFeedbackBody,
  SessionMetrics,
  SessionMetricsQueryBody,
  SessionNameQueryBody,
  SessionNameRow,
  SessionQueryBody,
  SessionRow,
  SessionTagBody,
  SessionTree,
  TreeParameters,
} from '#core/contracts/session.ts';
import type { SessionService } from '../sessions/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, parameters, reply } from './declare.ts';

export type SessionRoutesOptions = { keys: Keys; sessions: SessionService };

const TAG = 'Sessions';
const timeFilter = { startTimeUnixMs: 1_767_225_600_000, endTimeUnixMs: 4_102_444_800_000 };

/** `/v1/session…`: the requests that share a session id. */
export function sessionRoutes(options: SessionRoutesOptions) {
  return new Elysia({ name: 'api/sessions' }).use(readingRoutes(options)).use(writingRoutes(options));
}

function readingRoutes({ keys, sessions }: SessionRoutesOptions) {
  return authorized(keys, 'read', TAG)
    .post('/v1/session/query', ({ key, body }) => sessions.query(key.organizationId, body), {
      body: jsonBody(SessionQueryBody, { search: '', timeFilter, filter: 'all', limit: 10 }),
      response: reply(Type.Array(SessionRow)),
      detail: { summary: 'Lists sessions, the newest first, a page at a time' },
    })
    .post('/v1/session/name/query', ({ key, body }) => sessions.queryNames(key.organizationId, body), {
      body: jsonBody(SessionNameQueryBody, { nameContains: 'support', timeFilter }),
      response: reply(Type.Array(SessionNameRow)),
      detail: { summary: 'Lists the names of sessions, the last used first, a page at a time' },
    })
    .post('/v1/session/metrics/query', ({ key, body }) => sessions.measure(key.organizationId, body), {
      body: jsonBody(SessionMetricsQueryBody, { timeFilter }),
      response: reply(SessionMetrics),
      detail: { summary: 'Returns the distributions of requests, duration and cost over sessions' },
    })
    .get('/v1/session/has-session', ({ key }) => sessions.hasAny(key.organizationId), {
      response: reply(Type.Boolean()),
      detail: { summary: 'Returns whether there is any session' },
    })
    .get(
      '/v1/session/:id',
      ({ key, params, query }) => sessions.getTree(key.organizationId, params.id, query),
      {
        query: parameters(TreeParameters),
        response: reply(SessionTree),
        detail: { summary: 'Returns a session and the tree of its requests, a page at a time' },
      },
    )
    .get(
      '/v1/session/:id/conversation',
      ({ key, params, query }) => sessions.getConversation(key.organizationId, params.id, query),
      {
        query: parameters(ConversationParameters),
        response: reply(Conversation),
        detail: { summary: 'Returns what is new in each request of a session, a page at a time' },
      },
    )
    .get('/v1/session/:id/tag', ({ key, params }) => sessions.getTag(key.organizationId, params.id), {
      response: reply(Type.Union([Type.String(), Type.Null()])),
      detail: { summary: "Returns a session's tag; null when it has none" },
    });
}

function writingRoutes({ keys, sessions }: SessionRoutesOptions) {
  return authorized(keys, 'write', TAG)
    .post(
      '/v1/session/:id/feedback',
      ({ key, params, body }) => sessions.setFeedback(key.organizationId, params.id, body),
      {
        body: jsonBody(SessionFeedbackBody, { rating: true }),
        response: reply(Type.Null()),
        detail: { summary: 'Rates a session, in place of an earlier rating; null takes it back' },
      },
    )
    .post(
      '/v1/session/:id/tag',
      ({ key, params, body }) => sessions.setTag(key.organizationId, params.id, body),
      {
        body: jsonBody(SessionTagBody, { tag: 'reviewed' }),
        response: reply(Type.Null()),
        detail: { summary: "Sets a session's tag, in place of an earlier one; null takes it away" },
      },
    );
}
