/** The recorder: the head that it writes for a call, also when a value from outside has slipped through the types. */

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
import { parseRequestBody, type RequestBody } from '../../../../gateway/request/body.ts';
import type { Call, Outcome } from '../../../../gateway/request/call.ts';
import { readCallHeaders } from '../../../../gateway/request/headers.ts';
import { createRecorder, LateRecords, recordOnce } from '../../../../gateway/request/record.ts';
import { buildRecord } from '../../../../ingest/build-record.ts';
import { TEST_ORGANIZATION } from '../../../support/log-entries.ts';

/** Creates a recorder with an outbox in memory, and a call with this body. */
async function setUp(more: Partial<RequestBody> = {}, headers: string[] = []) {
  const read = readConfig({ CUSTOM_BASE_URL: 'http://127.0.0.1:9/v1' });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const entries: LogEntry[] = [];
  let discarded = 0;
  const keep = async (_key: unknown, entry: LogEntry) => entries.push(entry) > 0;
  const outbox = {
    append: keep,
    begin: keep,
    discard: () => {
      discarded += 1;
    },
    appended: 0,
    refused: 0,
    isRefusing: false,
    bytesOnDisk: 0,
    close: async () => {},
  };
  const lines = new PassThrough();
  const clock = { now: () => 1_700_000_000_005, monotonic: () => 5 };
  const recorder = createRecorder(outbox, clock, pino(lines));
  const candidate = createResolver(read.config.providers)('custom/m');
  const body = await parseRequestBody(Buffer.from('{"model":"m"}'), CHAT);
  const call: Call = {
    id: 'c1',
    caller: {
      organizationId: TEST_ORGANIZATION,
      apiKeyId: null,
      source: 'gateway',
      evaluationId: null,
      experimentId: null,
      rateLimitPolicy: null,
      countedAs: null,
      allowed: null,
      logsPer5s: null,
      providerKeys: NO_PROVIDER_KEYS,
    },
    endpoint: CHAT,
    headers: readCallHeaders(headers),
    body: { ...body, ...more },
    candidates: [candidate],
    createdAtMs: 1_700_000_000_000,
    startedAt: 0,
    signal: new AbortController().signal,
  };
  const outcome: Outcome = {
    status: 200,
    responseBody: Buffer.from('{"id":"r1"}'),
    contentType: 'application/json',
    contentEncoding: null,
    stream: false,
    ttftMs: null,
    truncated: false,
    errorCode: null,
  };
  const logged = { call, cachedFrom: null, logging: LOGGED };
  const record = (given: Outcome = outcome) =>
    recorder.record(logged, { outcome: given, candidate, attempts: [], cachedFrom: null });
  const recordBefore = (onEnd: () => void) => {
    const once = recordOnce(logged, {
      recorder,
      lateRecords: new LateRecords(),
      reads: () => false,
      onEnd,
      log: pino(lines),
    });
    return () => once({ outcome, candidate, attempts: [], cachedFrom: null });
  };
  const begin = () => recorder.begin(logged);
  return { entries, outbox, discarded: () => discarded, lines, outcome, record, recordBefore, begin };
}

t.test(
  'an outcome with an unreadable content type is recorded without one, and logged as an error',
  async (t) => {
    const { entries, lines, outcome, record } = await setUp();
    t.equal(await record({ ...outcome, contentType: ['a/b', 'a/c'] as unknown as string }), true);
    t.match(buildRecord(entries[0]!).request, { request_id: 'c1', response_id: 'r1', status: 200 });
    const [line] = await once(lines, 'data');
    t.match(JSON.parse(String(line)), { level: 50, requestId: 'c1', unreadable: ['contentType'] });
  },
);

t.test(
  'the head of a call without a prompt is, byte for byte, as readers before prompts know it',
  async (t) => {
    const { entries, begin, record } = await setUp();
    await begin();
    await record();
    const same =
      `"v":1,"id":"c1","organizationId":"${TEST_ORGANIZATION}","apiKeyId":null,"source":"gateway",` +
      '"createdAtMs":1700000000000,"path":"/v1/chat/completions","provider":"CUSTOM","requestModel":"m",' +
      '"userId":null,"sessionId":null,"sessionPath":null,"sessionName":null,"promptId":null,"experimentId":null,' +
      '"properties":[],"omitRequest":false,"omitResponse":false,';
    t.same(
      entries.map(({ head }) => Buffer.from(head).toString()),
      [
        `{${same}"answeredAtMs":1700000000000,"latencyMs":0,"ttftMs":null,"status":0,"stream":false,"truncated":true,` +
          '"errorCode":"interrupted","contentType":null,"contentEncoding":null}',
        `{${same}"answeredAtMs":1700000000005,"latencyMs":5,"ttftMs":null,"status":200,"stream":false,"truncated":false,` +
          '"errorCode":null,"contentType":"application/json","contentEncoding":null}',
      ],
    );
  },
);

t.test('the START and the record of a call with a prompt have its version and inputs', async (t) => {
  const prompt = { promptId: 'p', version: '2.0', inputs: '{"a":12345678901234567890}' };
  const { entries, begin, record } = await setUp({ prompt }, ['Service-Prompt-Id', 'a label']);
  await begin();
  await record();
  for (const entry of entries) {
    t.match(buildRecord(entry).request, { prompt_id: 'p', prompt_version: '2.0', inputs: prompt.inputs });
  }
  const omitting = await setUp({ prompt }, ['Service-Omit-Request', 'true']);
  await omitting.begin();
  await omitting.record();
  for (const entry of omitting.entries) {
    t.match(buildRecord(entry).request, { prompt_id: 'p', prompt_version: '2.0', inputs: null });
    t.notMatch(Buffer.from(entry.head).toString(), '1234567890');
  }
});

t.test('a record that cannot be made ends its call as one that is not kept, and is logged', async (t) => {
  const { outbox, discarded, lines, recordBefore } = await setUp();
  outbox.append = () => {
    throw new RangeError('Too deep');
  };
  let ends = 0;
  const record = recordBefore(() => {
    ends += 1;
  });
  t.strictSame(await Promise.all([record(), record()]), [false, false]);
  t.strictSame([ends, discarded()], [1, 1], 'the call ends once, and its START is closed');
  const [line] = await once(lines, 'data');
  t.match(JSON.parse(String(line)), { level: 50, requestId: 'c1', error: 'Too deep', stack: /RangeError/ });
});

t.test('a record is kept when the settlement of its call throws, and that is logged', async (t) => {
  const { entries, lines, recordBefore } = await setUp();
  const record = recordBefore(() => {
    throw new TypeError('No cost');
  });
  t.equal(await record(), true);
  t.equal(entries.length, 1);
  const [line] = await once(lines, 'data');
  t.match(JSON.parse(String(line)), { level: 50, requestId: 'c1', error: 'No cost' });
});
