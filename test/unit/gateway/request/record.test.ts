/** The recorder, should a value from outside have slipped through the types: the call has a record all the same. */

import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import pino from 'pino';
import t from 'tap';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import type { Call, Outcome } from '../../../../gateway/request/call.ts';
import { createRecorder } from '../../../../gateway/request/record.ts';
import { buildRecord } from '../../../../ingest/build-record.ts';
import { TEST_ORGANIZATION } from '../../../support/log-entries.ts';

t.test(
  'an outcome with an unreadable content type is recorded without one, and logged as an error',
  async (t) => {
    const entries: LogEntry[] = [];
    const outbox = {
      append: async (_key: unknown, entry: LogEntry) => entries.push(entry) > 0,
      begin: async () => true,
      discard: () => {},
      refused: 0,
      close: async () => {},
    };
    const lines = new PassThrough();
    const clock = { now: () => 1_700_000_000_005, monotonic: () => 5 };
    const recorder = createRecorder(outbox, clock, pino(lines));
    const call = {
      id: 'c1',
      caller: { organizationId: TEST_ORGANIZATION, apiKeyId: null, source: 'gateway' },
      surface: { path: '/v1/chat/completions' },
      headers: {
        userId: null,
        sessionId: null,
        sessionPath: null,
        sessionName: null,
        promptId: null,
        experimentId: null,
        properties: [],
        omitRequest: false,
        omitResponse: false,
      },
      body: { model: 'm', bytes: Buffer.from('{}'), user: null },
      route: { model: 'm', row: { label: 'CUSTOM' } },
      attempts: [],
      cachedFrom: null,
      createdAtMs: 1_700_000_000_000,
      startedAt: 0,
      isLogged: true,
    } as unknown as Call;
    const outcome: Outcome = {
      status: 200,
      responseBody: Buffer.from('{"id":"r1"}'),
      contentType: ['a/b', 'a/c'] as unknown as string,
      contentEncoding: null,
      stream: false,
      ttftMs: null,
      truncated: false,
      errorCode: null,
    };
    t.equal(await recorder.record(call, outcome), true);
    t.match(buildRecord(entries[0]!).request, { request_id: 'c1', response_id: 'r1', status: 200 });
    const [line] = await once(lines, 'data');
    t.match(JSON.parse(String(line)), { level: 50, requestId: 'c1', unreadable: ['contentType'] });
  },
);
