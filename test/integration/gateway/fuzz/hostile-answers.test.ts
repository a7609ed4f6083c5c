/** Answers that no honest provider gives: each is an error of the client's dialect at once, and costs the gateway little. */
import { once } from 'node:events';
import { request } from 'node:http';
import { createGzip, gzipSync } from 'node:zlib';
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { CODINGS, packed } from './codings.ts';
import {
  type Act,
  COMPLETION,
  EVENTS_TYPE,
  JSON_TYPE,
  respondWith,
  startHostileWorld,
} from './hostile-world.ts';

const world = await startHostileWorld(t);

const writing =
  (text: string): Act =>
  (socket) =>
    void socket.write(text, 'latin1');
const INTERIM = 'HTTP/1.1 102 Processing\r\n\r\n';

for (const { what, act, rule } of [
  {
    what: 'that ends its lines with LF alone',
    act: writing(`HTTP/1.1 200 OK\n${JSON_TYPE}\n\n{}`),
    rule: /CR LF/,
  },
  {
    what: 'that speaks HTTP/2',
    act: writing('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04\0\x01\0\0\0\x05\0\xff\xff\xff'),
    rule: /status line/,
  },
  { what: 'that sends interim responses without end', act: writing(INTERIM.repeat(200)), rule: /interim/ },
  { what: 'whose status is 999', act: respondWith('999 Odd', [JSON_TYPE], COMPLETION), rule: /status 999/ },
  {
    what: 'that sends a body under 205',
    act: respondWith('205 Reset', [JSON_TYPE], COMPLETION),
    rule: /answered 205/,
  },
  {
    what: 'that streams under 205',
    act: respondWith('205 Reset', [EVENTS_TYPE], COMPLETION),
    rule: /answered 205/,
  },
  { what: 'that streams under 204', act: respondWith('204 None', [EVENTS_TYPE], ''), rule: /answered 204/ },
]) {
  t.test(`a provider ${what} is a 502 at once, and recorded`, async (t) => {
    const given = await world.call(act);
    t.equal(given.status, 502);
    t.match(JSON.parse(given.text).error, { code: 'provider_bad_answer', message: rule });
    t.match(await world.gateway.record(given.id), { status: 502, error_code: 'provider_bad_answer' });
  });
}

t.test("a provider's headers for browsers and for its own connection do not reach the client", async (t) => {
  const dropped = [
    'connection: keep-alive, x-hop',
    'x-hop: 1',
    'access-control-allow-origin: *',
    'access-control-allow-credentials: true',
    'refresh: 0; url=https://elsewhere.example',
    'clear-site-data: "*"',
    'proxy-authorization: Basic c2VjcmV0',
    'proxy-authenticate: Basic',
    'proxy-status: p; error=timeout',
    'set-cookie: a=b',
    'set-cookie: c=d',
    'alt-svc: h3=":443"',
    'strict-transport-security: max-age=1',
    'service-cache: HIT',
  ];
  for (const type of [JSON_TYPE, EVENTS_TYPE]) {
    const given = await world.call(respondWith('200 OK', [type, ...dropped, 'x-kept: 1'], COMPLETION));
    t.equal(given.headers['x-kept'], '1');
    for (const line of dropped.slice(1)) {
      const [name = ''] = line.split(':');
      t.equal(given.headers[name], undefined, `${name} beside ${type}`);
    }
    t.notMatch(given.headers.connection, /x-hop/);
  }
});

/** Longer than what is unpacked in one go. */
const LONG = JSON.stringify({ id: 'c1', padding: Array.from({ length: 20_000 }, (_, n) => n * 7_919) });

for (const coding of CODINGS) {
  t.test(`${coding}: a truncated response is a 502, and a whole one is relayed`, async (t) => {
    const headers = [JSON_TYPE, `content-encoding: ${coding}`];
    for (const text of [COMPLETION, LONG]) {
      const bytes = packed(coding, Buffer.from(text));
      for (const left of [1, Math.floor(bytes.length / 2), bytes.length - 1]) {
        const given = await world.call(respondWith('200 OK', headers, bytes.subarray(0, left)));
        t.equal(given.status, 502, `${left} of ${bytes.length} bytes`);
        t.match(JSON.parse(given.text).error, {
          code: 'provider_bad_answer',
          message: `The provider CUSTOM answered 200 with a body that is not valid ${coding}`,
        });
        t.match(await world.gateway.record(given.id), { status: 502, error_code: 'provider_bad_answer' });
      }
      const whole = await world.call(respondWith('200 OK', headers, bytes));
      t.equal(whole.status, 200);
      t.ok(Buffer.from(whole.text, 'latin1').equals(bytes), 'untouched');
    }
    const brokenInside = packed(coding, Buffer.from('{"id":"c1","choices":['));
    const given = await world.call(respondWith('200 OK', headers, brokenInside));
    t.match(JSON.parse(given.text).error.message, /JSON that breaks off/);
  });
}

t.test('a truncated compressed response leads to the next model of the list', async (t) => {
  const bytes = gzipSync(COMPLETION);
  const torn = respondWith('200 OK', [JSON_TYPE, 'content-encoding: gzip'], bytes.subarray(0, -1));
  const given = await world.call(torn, { model: 'custom/m,gpt-4o-mini' });
  t.equal(given.status, 200);
  t.equal(given.headers['service-fallback-index'], '1');
});

const MIB = 1024 * 1024;
const STREAM_BYTES = 64 * MIB;
/** Bytes that the sockets of both sides may hold, with those on their way between them. */
const ON_ITS_WAY_BYTES = 24 * MIB;

/** A stream of events without an end mark: some hundred kilobytes that unpack to STREAM_BYTES. */
async function packedStream(): Promise<Buffer> {
  const event = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"${'a'.repeat(4_000)}"}}]}\n\n`;
  const piece = Buffer.from(event.repeat(Math.ceil(MIB / event.length)));
  const gzip = createGzip({ level: 1 });
  const pieces: Buffer[] = [];
  gzip.on('data', (bytes: Buffer) => pieces.push(bytes));
  const ended = once(gzip, 'end');
  for (let bytes = 0; bytes < STREAM_BYTES; bytes += piece.length)
    if (!gzip.write(piece)) await once(gzip, 'drain');
  gzip.end();
  await ended;
  return Buffer.concat(pieces);
}

t.test('a compressed stream is decompressed only as far as its client reads', async (t) => {
  const stream = await packedStream();
  const act = respondWith('200 OK', [EVENTS_TYPE, 'content-encoding: gzip'], stream);
  const id = newRequestId();
  const mark = world.expect(act);
  const idle = request(`${world.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...mark, 'service-request-id': id },
  });
  idle.on('error', () => {});
  idle.end(JSON.stringify({ model: 'custom/m', stream: true, messages: [] }));
  // The client has the head, and reads nothing of the body.
  const [answer] = await once(idle, 'response');
  answer.on('error', () => {});
  // While another client read all of the same stream, it could have been unpacked for this one as well.
  const whole = await world.call(act, { stream: true });
  t.ok(whole.text.length > STREAM_BYTES);
  idle.destroy();
  const { error_code: code, response_text: text } = await world.gateway.record(id);
  t.equal(code, 'client_closed_request');
  t.ok(text.length < ON_ITS_WAY_BYTES, `${text.length} bytes were unpacked`);
});

t.test('none of the hostile responses became a dead letter', async (t) => {
  t.equal(await world.deadLetters(), 0);
});
