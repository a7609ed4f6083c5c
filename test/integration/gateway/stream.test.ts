import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import t, { type Test } from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { leastOf } from '../../support/least-of.ts';

const gateway = await startTestGateway(t, { PROVIDER_IDLE_TIMEOUT_MS: '400', MISTRAL_API_KEY: 'sk-mistral' });
t.afterEach(() => gateway.provider.script(null));

const STREAM = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
const CHUNK = (content: string) =>
  `data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}],"usage":null}\n\n`;
const FINISH =
  'data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n';
const USAGE =
  'data: {"id":"c1","model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\n';
const DONE = 'data: [DONE]\n\n';
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

const bytes = (body: string, more: object = {}) => ({
  kind: 'bytes' as const,
  body,
  headers: EVENTS,
  ...more,
});

/** The base URL of a provider of its own. */
async function listening(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function provider(t: Test, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((incoming, response) => {
    incoming.resume();
    answer(response);
  });
  return listening(t, server);
}

t.test(
  'usage is requested from the provider, recorded, and hidden from a client that did not ask for it',
  async (t) => {
    gateway.provider.script(() => bytes(CHUNK('Hi') + FINISH + USAGE + DONE));
    const answer = await gateway.chat(STREAM);
    t.equal(await answer.text(), CHUNK('Hi') + FINISH + DONE);
    const sent = JSON.parse(gateway.provider.requests.at(-1)!.body.toString());
    t.same(sent, { ...STREAM, stream_options: { include_usage: true } });
    t.match(await gateway.record(answer), {
      prompt_tokens: 9,
      completion_tokens: 2,
      total_tokens: 11,
      is_stream: true,
      truncated: false,
    });
  },
);

t.test('a client that asks for usage gets it, and its request is sent unchanged', async (t) => {
  gateway.provider.script(() => bytes(CHUNK('Hi') + FINISH + USAGE + DONE));
  const body = JSON.stringify({ ...STREAM, stream_options: { include_usage: true } });
  const answer = await gateway.chat(body);
  t.equal(await answer.text(), CHUNK('Hi') + FINISH + USAGE + DONE);
  t.equal(gateway.provider.requests.at(-1)!.body.toString(), body);
});

t.test('other stream options are kept when include_usage is added', async (t) => {
  const answer = await gateway.chat({ ...STREAM, stream_options: { include_obfuscation: false } });
  await answer.text();
  t.same(JSON.parse(gateway.provider.requests.at(-1)!.body.toString()).stream_options, {
    include_obfuscation: false,
    include_usage: true,
  });
});

t.test('Mistral, which refuses unknown fields, is sent no stream_options', async (t) => {
  const mistral = await startTestGateway(t, {
    MISTRAL_API_KEY: 'k',
    MISTRAL_BASE_URL: gateway.provider.url,
  });
  const answer = await mistral.chat({ ...STREAM, model: 'mistral-small-latest' });
  await answer.text();
  t.equal(JSON.parse(gateway.provider.requests.at(-1)!.body.toString()).stream_options, undefined);
});

t.test('the assembled completion is stored as the response body', async (t) => {
  gateway.provider.script(() => ({
    kind: 'stream',
    deltas: ['Good ', 'day'],
    toolCalls: [{ name: 'weather', arguments: '{"city":"Z\u00fcrich"}' }],
  }));
  const answer = await gateway.chat(STREAM);
  await answer.text();
  const record = await gateway.record(answer);
  t.match(JSON.parse(record.response_text), {
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Good day',
          tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Z\u00fcrich"}' } }],
        },
      },
    ],
    usage: { total_tokens: Number },
  });
  t.type(record.ttft_ms, 'number');
});

for (const [what, chunking] of [
  ['one byte at a time', { bytesEach: 1 }],
  ['cut inside events', { at: [3, 40, 41, 150] }],
] as const) {
  t.test(`a stream that arrives ${what} reaches the client with the same bytes`, async (t) => {
    const body = `: hello\r\n\r\n${CHUNK('caf\u00e9 \ud83d\ude80').replaceAll('\n', '\r\n')}event: x\ndata: {"a":1}\n\n${FINISH}${USAGE}${DONE}`;
    gateway.provider.script(() => bytes(body, { chunking }));
    const answer = await gateway.chat(STREAM);
    t.equal(await answer.text(), body.replace(USAGE, ''));
    t.match(JSON.parse((await gateway.record(answer)).response_text), {
      choices: [{ message: { content: 'caf\u00e9 \ud83d\ude80' } }],
    });
  });
}

t.test('a last event without its blank line is relayed', async (t) => {
  gateway.provider.script(() => bytes(`${CHUNK('Hi')}${FINISH}data: [DONE]`));
  const answer = await gateway.chat(STREAM);
  t.equal(await answer.text(), `${CHUNK('Hi')}${FINISH}data: [DONE]`);
  t.match(await gateway.record(answer), { truncated: false });
});

t.test('a stream that ends after its finish reason, without [DONE], is complete', async (t) => {
  gateway.provider.script(() => bytes(CHUNK('Hi') + FINISH));
  const answer = await gateway.chat(STREAM);
  t.equal(await answer.text(), CHUNK('Hi') + FINISH);
  t.match(await gateway.record(answer), { truncated: false, error_code: null });
});

t.test(
  'a stream that breaks off ends in an error event without [DONE], and is recorded as truncated',
  async (t) => {
    gateway.provider.script(() => bytes(`${CHUNK('Hi')}data: {"id":"c1","cho`, { ending: 'cut' }));
    const answer = await gateway.chat(STREAM);
    const text = await answer.text();
    t.ok(text.startsWith(CHUNK('Hi')));
    const rest = text.slice(CHUNK('Hi').length);
    t.match(rest, /^data: \{"error":\{.*"code":"provider_unreachable"\}\}\n\n$/);
    t.match(await gateway.record(answer), {
      status: 200,
      truncated: true,
      error_code: 'provider_unreachable',
    });
  },
);

t.test('a stream that stalls ends with a timeout error', async (t) => {
  gateway.provider.script(() => bytes(CHUNK('Hi'), { ending: 'stall' }));
  const answer = await gateway.chat(STREAM);
  t.match(await answer.text(), /"code":"provider_timeout"/);
  t.match(await gateway.record(answer), { truncated: true, error_code: 'provider_timeout' });
});

t.test('a stream whose connection breaks after its finish reason is complete', async (t) => {
  gateway.provider.script(() => bytes(CHUNK('Hi') + FINISH, { ending: 'cut' }));
  const answer = await gateway.chat(STREAM);
  t.equal(await answer.text(), CHUNK('Hi') + FINISH);
  t.match(await gateway.record(answer), { truncated: false, error_code: null });
});

t.test('a gzipped stream reaches the client decompressed', async (t) => {
  gateway.provider.script(() => ({ kind: 'stream', deltas: ['a', 'b'], encoding: 'gzip' }));
  const answer = await gateway.chat(STREAM);
  t.equal(answer.headers.get('content-encoding'), null);
  t.match(await answer.text(), /data: \[DONE\]\n\n$/);
  t.match(JSON.parse((await gateway.record(answer)).response_text), {
    choices: [{ message: { content: 'ab' } }],
  });
});

t.test('an error response to a stream request is relayed as a plain error', async (t) => {
  gateway.provider.script(() => ({ kind: 'error', status: 400, message: 'bad tools' }));
  const answer = await gateway.chat(STREAM);
  t.equal(answer.status, 400);
  t.match(await answer.json(), { error: { message: 'bad tools' } });
});

t.test('a stream with Service-Omit-Response is recorded with its usage and without its text', async (t) => {
  gateway.provider.script(() => bytes(CHUNK('secret') + FINISH + USAGE + DONE));
  const answer = await gateway.chat(STREAM, { 'service-omit-response': 'true' });
  await answer.text();
  t.match(await gateway.record(answer), { response_text: '{}', prompt_tokens: 9, total_tokens: 11 });
});

t.test(
  'a client that disconnects from a stream aborts the provider within 100 ms; the received part is recorded',
  async (t) => {
    gateway.provider.script(() => ({
      kind: 'stream',
      deltas: Array.from({ length: 500 }, () => 'word '),
      everyMs: 5,
    }));
    const leastMs = await leastOf(
      3,
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
