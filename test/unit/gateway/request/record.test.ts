/** The recorder, should a value from outside have slipped through the types: the call has a record all the same. */

import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import pino from 'pino';
import t from 'tap';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { readConfig } from '#platform/config/mod.ts';
import { NO_PROVIDER_KEYS } from '#platform/provider-keys/mod.ts';
import { CHAT } from '../../../../gateway/endpoints/endpoint.ts';
import { LOGGED } from '../../../../gateway/limits/logging-rate.ts';
import { createResolver } from '../../../../gateway/providers/resolve.ts';
import { parseRequestBody } from '../../../../gateway/request/body.ts';
import type { Call, Outcome } from '../../../../gateway/request/call.ts';
import { readCallHeaders } from '../../../../gateway/request/headers.ts';
import { createRecorder } from '../../../../gateway/request/record.ts';
import { buildRecord } from '../../../../ingest/build-record.ts';
import { TEST_ORGANIZATION } from '../../../support/log-entries.ts';

t.test(
  'an outcome with an unreadable content type is recorded without one, and logged as an error',
  async (t) => {
    const read = readConfig({ CUSTOM_BASE_URL: 'http://127.0.0.1:9/v1' });
    if (!read.ok) throw new Error(read.problems.join('\n'));
    const { config } = read;
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
    const candidate = createResolver(config.providers)('custom/m');
    const call: Call = {
      id: 'c1',
      caller: {
        organizationId: TEST_ORGANIZATION,
        apiKeyId: null,
        source: 'gateway',
        evaluationId: null,
        rateLimitPolicy: null,
        countedAs: null,
        allowed: null,
        logsPer5s: null,
        providerKeys: NO_PROVIDER_KEYS,
      },
      endpoint: CHAT,
      headers: readCallHeaders([]),
      body: await parseRequestBody(Buffer.from('{"model":"m"}'), CHAT),
      candidates: [candidate],
      createdAtMs: 1_700_000_000_000,
      startedAt: 0,
      signal: new AbortController().signal,
    };
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
    const logged = { call, cachedFrom: null, logging: LOGGED };
    t.equal(await recorder.record(logged, { outcome, candidate, attempts: [] }), true);
    t.match(buildRecord(entries[0]!).request, { request_id: 'c1', response_id: 'r1', status: 200 });
    const [line] = await once(lines, 'data');
    t.match(JSON.parse(String(line)), { level: 50, requestId: 'c1', unreadable: ['contentType'] });
  },
);
