/** Log entries as a gateway writes them, for tests of what comes after it. */

import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { newRequestId } from '#platform/process/ids.ts';

export const TEST_ORGANIZATION = '00000000-0000-4000-8000-000000000001';

/** The head of a plain, successful call. */
export function logEntryHead(more: Partial<LogEntryHead> = {}): LogEntryHead {
  const now = Date.now();
  return {
    v: 1,
    id: newRequestId(),
    organizationId: TEST_ORGANIZATION,
    apiKeyId: null,
    source: 'gateway',
    createdAtMs: now,
    answeredAtMs: now + 5,
    latencyMs: 5,
    ttftMs: null,
    path: '/v1/chat/completions',
    provider: 'OPENAI',
    requestModel: 'gpt-4o-mini',
    status: 200,
    stream: false,
    truncated: false,
    errorCode: null,
    contentType: 'application/json',
    contentEncoding: null,
    userId: null,
    sessionId: null,
    sessionPath: null,
    sessionName: null,
    promptId: null,
    experimentId: null,
    properties: [],
    omitRequest: false,
    omitResponse: false,
    ...more,
  };
}

/** An entry with this head and these bodies. */
export function logEntry(
  head: Partial<LogEntryHead> = {},
  bodies: { request?: unknown; response?: unknown } = {},
): LogEntry & { id: string } {
  const whole = logEntryHead(head);
  return {
    id: whole.id,
    head: Buffer.from(JSON.stringify(whole)),
    requestBody: Buffer.from(JSON.stringify(bodies.request ?? { model: 'gpt-4o-mini' })),
    responseBody: Buffer.from(JSON.stringify(bodies.response ?? { model: 'gpt-4o-mini' })),
  };
}
