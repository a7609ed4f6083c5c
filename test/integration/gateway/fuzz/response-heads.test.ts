/** Heads of providers' answers as no provider should write them: each answered call is found, and none is a dead letter. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { runs } from '../../../support/fuzz-runs.ts';
import {
  type Act,
  COMPLETION,
  EVENTS,
  EVENTS_TYPE,
  JSON_TYPE,
  respondWith,
  startHostileWorld,
} from './hostile-world.ts';
import { sampled } from './sockets.ts';

const world = await startHostileWorld(t);

t.test('a response with two equal content types is relayed and recorded', async (t) => {
  for (const [type, again, body] of [
    [JSON_TYPE, JSON_TYPE, COMPLETION],
    [JSON_TYPE, 'Content-Type: Application/JSON', COMPLETION],
    [EVENTS_TYPE, EVENTS_TYPE, EVENTS],
  ] as const) {
    const given = await world.call(respondWith('200 OK', [type, again], body));
    t.equal(given.status, 200, again);
    t.equal(given.text, body);
    t.equal(`content-type: ${given.headers['content-type']}`, type);
    t.match(await world.gateway.record(given.id), { status: 200, truncated: false, response_id: 'c1' });
  }
});

t.test(
  'a response with two different content types is a 502 that names the header, and is recorded',
  async (t) => {
    for (const other of ['content-type: text/html', `${JSON_TYPE}; charset=utf-8`]) {
      const given = await world.call(respondWith('200 OK', [JSON_TYPE, other], COMPLETION));
      t.equal(given.status, 502);
      t.match(JSON.parse(given.text).error, { code: 'provider_bad_answer', message: /content-type headers/ });
      t.match(await world.gateway.record(given.id), { status: 502, error_code: 'provider_bad_answer' });
    }
  },
);

t.test('a response with two content encodings is a 502 that names them', async (t) => {
  const lines = [JSON_TYPE, 'content-encoding: gzip', 'content-encoding: gzip'];
  const given = await world.call(respondWith('200 OK', lines, gzipSync(COMPLETION)));
  t.equal(given.status, 502);
  t.match(JSON.parse(given.text).error, {
    code: 'provider_bad_answer',
    message: /content-encoding "gzip, gzip", which is not known/,
  });
  t.match(await world.gateway.record(given.id), { status: 502, error_code: 'provider_bad_answer' });
});

t.test('a content encoding beside "identity" or an empty one counts alone', async (t) => {
  const packed = gzipSync(COMPLETION);
  for (const lines of [
    ['content-encoding: identity', 'content-encoding: GZIP'],
    ['content-encoding: ', 'content-encoding: gzip'],
  ]) {
    const given = await world.call(respondWith('200 OK', [JSON_TYPE, ...lines], packed));
    t.equal(given.status, 200, lines.join());
    t.equal(given.text, packed.toString('latin1'));
    t.match(await world.gateway.record(given.id), { response_text: COMPLETION });
  }
  const plain = ['content-encoding: identity', 'content-encoding: identity'];
  const given = await world.call(respondWith('200 OK', [JSON_TYPE, ...plain], COMPLETION));
  t.equal(given.text, COMPLETION);
  t.match(await world.gateway.record(given.id), { response_text: COMPLETION });
});

t.test('a response with two lengths or two transfer encodings is a 502 that names the header', async (t) => {
  for (const [line, name] of [
    ['content-length: 3', 'content-length'],
    ['transfer-encoding: chunked\r\ntransfer-encoding: gzip', 'transfer-encoding'],
  ] as const) {
    const given = await world.call(respondWith('200 OK', [JSON_TYPE, line], COMPLETION));
    t.equal(given.status, 502);
    t.match(JSON.parse(given.text).error.message, new RegExp(name));
    t.match(await world.gateway.record(given.id), { status: 502 });
  }
});

t.test(
  'a repeated date, server or retry-after header counts once, and other repeated headers are joined',
  async (t) => {
    const lines = ['server: a', 'server: b', 'retry-after: 1', 'retry-after: 2', 'x-list: a', 'x-list: b'];
    const { status, headers } = await world.call(respondWith('200 OK', [JSON_TYPE, ...lines], COMPLETION));
    t.equal(status, 200);
    t.match(headers, { server: 'a', 'retry-after': '1', 'x-list': 'a, b' });
  },
);

/** Header names with a meaning on the way, and some without. */
const names = fc.oneof(
  fc.constantFrom(
    'Content-Type',
    'content-type',
    'Content-Encoding',
    'content-length',
    'transfer-encoding',
    'connection',
    'keep-alive',
    'set-cookie',
    'retry-after',
    'x-should-retry',
    'service-request-id',
    'service-logged',
    'request-id',
    'date',
    '__proto__',
    'constructor',
    'trailer',
    'upgrade',
  ),
  fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/),
);
const LONGEST_VALUE = 20_000;
const values = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'application/json',
    'text/event-stream',
    'gzip',
    'identity',
    'chunked',
    '5',
    'a, b',
    'close',
  ),
  fc.stringMatching(/^[\t -~\x80-\xff]{0,30}$/),
  fc.integer({ min: 1_000, max: LONGEST_VALUE }).map((length) => 'v'.repeat(length)),
);
const lines = fc.oneof(
  fc.array(fc.tuple(names, values), { maxLength: 8 }),
  fc.tuple(names, values, fc.integer({ min: 2, max: 3_000 })).map(([name, value, times]) => {
    // Up to the largest head that is read.
    const most = Math.floor(60_000 / (name.length + value.length + 4));
    return Array.from(
      { length: Math.min(times, Math.max(2, most)) },
      () => [name, value] as [string, string],
    );
  }),
);
const heads = fc.record({
  lines: lines.map((pairs) => pairs.map(([name, value]) => `${name}: ${value}`)),
  isStream: fc.boolean(),
  isTyped: fc.boolean(),
  status: fc.constantFrom('200 OK', '200 OK', '201', '400 Bad', '429 Slow', '500 No'),
});

t.test(
  'a call is answered and recorded, and is no dead letter, whatever head its provider writes',
  async (t) => {
    await sampled(heads, runs(t, 400), async ({ lines, isStream, isTyped, status }) => {
      const type = isStream ? EVENTS_TYPE : JSON_TYPE;
      const body = isStream ? EVENTS : COMPLETION;
      const act = respondWith(status, isTyped ? [type, ...lines] : lines, body);
      const hangUp: Act = (socket) => {
        act(socket);
        socket.end();
      };
      const given = await world.call(hangUp, { stream: isStream });
      ok(
        given.status === Number(status.slice(0, 3)) || given.status === 502,
        `${given.status} for ${status}: ${given.text.slice(0, 300)}`,
      );
      strictEqual(given.headers['service-logged'], undefined);
      const record = await world.gateway.record(given.id);
      deepStrictEqual([record.provider, record.request_model], ['CUSTOM', 'custom/m']);
    });
    t.equal(await world.deadLetters(), 0);
  },
);
