/** When the bytes of a stream are relayed, to clients that wait, read slowly or disconnect. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { leastOf } from '../../support/least-of.ts';
import { bytes, CHUNK, DONE, EVENTS, FINISH, listening, provider, STREAM } from './streamed.ts';

const gateway = await startTestGateway(t, {
  PROVIDER_IDLE_TIMEOUT_MS: '2000',
  MISTRAL_API_KEY: 'sk-mistral',
});
t.afterEach(() => gateway.provider.script(null));

t.test(
  'a client that disconnects from a stream aborts the provider within 100 ms; the received part is recorded',
  async (t) => {
    gateway.provider.script(() => ({
      kind: 'stream',
      deltas: Array.from({ length: 500 }, () => 'word '),
      everyMs: 5,
    }));
    const leastMs = await leastOf(
      10,
      async () => {
        const id = newRequestId();
        const leaving = new AbortController();
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          signal: leaving.signal,
          headers: { authorization: `Bearer ${gateway.key}`, 'service-request-id': id },
          body: JSON.stringify(STREAM),
        });
        const reader = answer.body!.getReader();
        await reader.read();
        await reader.read();
        const leftAt = performance.now();
        leaving.abort();
        const call = gateway.provider.requests.at(-1)!;
        await call.ended;
        t.equal(call.aborted, true);
        const record = await gateway.record(id);
        t.match(record, {
          status: 499,
          truncated: true,
          error_code: 'client_closed_request',
          is_stream: true,
        });
        t.match(record.response_text, /word /);
        return call.abortedAtMs! - leftAt;
      },
      100,
    );
    t.ok(leastMs < 100, `${leastMs} ms`);
  },
);

t.test(
  '[DONE] waits until the record is committed, and not for the provider to close its connection',
  async (t) => {
    // A provider that keeps its connection open after [DONE].
    let finish = () => {};
    const lingering = await provider(t, (response) => {
      response.writeHead(200, EVENTS);
      response.write(CHUNK('Hi') + FINISH + DONE);
      finish = () => response.end();
    });
    const other = await startTestGateway(t, {
      CUSTOM_BASE_URL: lingering,
      CUSTOM_API_KEY: 'k',
    });
    const answer = await other.chat({ ...STREAM, model: 'custom/m' });
    const reader = answer.body!.getReader();
    let text = '';
    while (!text.endsWith(DONE)) text += Buffer.from((await reader.read()).value!).toString();
    t.match(await other.record(answer), { status: 200, truncated: false });
    finish();
    t.equal((await reader.read()).done, true);
  },
);

for (const path of ['/v1/chat/completions', '/v1/responses']) {
  t.test(`on ${path} an endless event becomes one error event, and its provider is stopped`, async (t) => {
    const strict = await startTestGateway(t, {
      MAX_BODY_BYTES: '1024',
      CUSTOM_BASE_URL: gateway.provider.url,
    });
    const begun =
      path === '/v1/responses'
        ? 'event: response.created\ndata: {"type":"response.created"}\n\n'
        : CHUNK('Hi');
    const endless = `${begun}data: {"id":"c1","x":"${'x'.repeat(1_000_000)}`;
    gateway.provider.script(() => bytes(endless, { ending: 'stall', chunking: { bytesEach: 16_384 } }));
    const answer = await fetch(`${strict.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${strict.key}` },
      body: JSON.stringify({ ...STREAM, model: 'custom/m', input: 'Hi' }),
    });
    const call = gateway.provider.requests.at(-1)!;
    const text = await answer.text();
    t.match(text.split('\n\n').at(-2), 'sent an event of more than 4096 bytes');
    t.notMatch(text, 'xxx');
    await call.ended;
    t.equal(call.aborted, true);
    const record = await strict.record(answer);
    t.match(record, { truncated: true, error_code: 'provider_bad_answer', is_stream: true });
    t.notMatch(record.response_text, 'xxx');
  });
}

t.test('a client gets the response headers before the first event arrives', async (t) => {
  let speak = () => {};
  const thinking = await provider(t, (response) => {
    response.writeHead(200, EVENTS).flushHeaders();
    speak = () => response.end(CHUNK('Hi') + FINISH + DONE);
  });
  const other = await startTestGateway(t, {
    CUSTOM_BASE_URL: thinking,
  });
  const answer = await other.chat({ ...STREAM, model: 'custom/m' });
  t.equal(answer.status, 200);
  speak();
  t.equal(await answer.text(), CHUNK('Hi') + FINISH + DONE);
  t.match(await other.record(answer), { truncated: false });
});

t.test('events that arrive together are relayed together, the last one with the end', async (t) => {
  const chunk = (event: string) => `${event.length.toString(16)}\r\n${event}\r\n`;
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  let burst = () => {};
  // Node's own HTTP server would join what is written together into one chunk.
  const bursting = createTcpServer((socket) => {
    socket.once('data', () => socket.write(head + chunk(CHUNK('a')))).resume();
    socket.on('error', () => {});
    burst = () => {
      const events = [CHUNK('b'), CHUNK('c'), FINISH, DONE];
      socket.write(`${events.map(chunk).join('')}0\r\n\r\n`);
    };
  });
  const other = await startTestGateway(t, {
    CUSTOM_BASE_URL: await listening(t, bursting),
    CUSTOM_API_KEY: 'k',
  });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${other.key}` };
    request(`${other.url}/v1/chat/completions`, { method: 'POST', headers }, resolve)
      .once('error', reject)
      .end(JSON.stringify({ ...STREAM, model: 'custom/m' }));
  });
  // Heard of one by one, as they are chunks.
  const pieces: string[] = [];
  answer.on('data', (piece: Buffer) => {
    if (pieces.push(piece.toString()) === 1) burst();
  });
  await once(answer, 'end');
  t.same(pieces, [CHUNK('a'), CHUNK('b') + CHUNK('c') + FINISH, DONE]);
});

t.test('a slow client slows its provider down instead of filling memory', async (t) => {
  const event = CHUNK('x'.repeat(100_000));
  let written = 0;
  const firehose = await provider(t, (response) => {
    response.writeHead(200, EVENTS);
    const more = () => {
      while (written < 600) {
        written += 1;
        if (!response.write(event)) {
          response.once('drain', more);
          return;
        }
      }
      response.end(FINISH + DONE);
    };
    more();
  });
  const other = await startTestGateway(t, {
    CUSTOM_BASE_URL: firehose,
    CUSTOM_API_KEY: 'k',
  });
  const answer = await other.chat({ ...STREAM, model: 'custom/m' });
  const reader = answer.body!.getReader();
  await reader.read();
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  t.ok(written < 600, `the provider was held at event ${written} of 600`);
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) size += part.value.length;
  t.ok(size > 59_000_000);
});
