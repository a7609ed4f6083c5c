import { Type } from '@sinclair/typebox';
import { BODY_PATHS, type LogRequest, LogRequestBody } from '../log/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBodyAsWritten, reply } from './declare.ts';

export type LogRoutesOptions = {
  keys: Keys;
  logRequest: LogRequest;
  /** Limit of a body, which holds the bodies of a request and its response. */
  maxBodyBytes: number;
};

const Logged = Type.Object({ request_id: Type.String() }, { additionalProperties: false });

/** `/v1/log…`: requests that were made elsewhere. */
export function logRoutes({ keys, logRequest, maxBodyBytes }: LogRoutesOptions) {
  return authorized(keys, 'write', 'Requests').post(
    '/v1/log/request',
    async ({ key, body }) => ({ request_id: await logRequest(key, body) }),
    {
      body: jsonBodyAsWritten(LogRequestBody, EXAMPLE, { maxBytes: maxBodyBytes, asWritten: BODY_PATHS }),
      response: reply(Logged),
      detail: { summary: 'Logs a request that was made elsewhere, and its response' },
    },
  );
}

const EXAMPLE: LogRequestBody = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  request: {
    body: { messages: [{ role: 'user', content: 'Hello' }] },
    created_at: '2026-11-22T12:00:00.000Z',
  },
  response: {
    body: { choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
    status: 200,
    created_at: '2026-11-22T12:00:01.250Z',
  },
};
