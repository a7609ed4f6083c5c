/** What a stream holds: usage, its end, and what is recorded. */
import t from 'tap';
import { startTestGateway } from '../../support/gateway.ts';
import { bytes, CHUNK, DONE, FINISH, STREAM, USAGE } from './streamed.ts';

const gateway = await startTestGateway(t, {
  PROVIDER_IDLE_TIMEOUT_MS: '2000',
  MISTRAL_API_KEY: 'sk-mistral',
});
t.afterEach(() => gateway.provider.script(null));

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

for (const [ending, code] of [
  ['cut', 'provider_unreachable'],
  ['end', 'provider_bad_answer'],
] as const) {
  t.test(`a last event without its blank line is neither passed on nor recorded (${code})`, async (t) => {
    gateway.provider.script(() => bytes(CHUNK('Hi') + CHUNK(' there').trimEnd(), { ending }));
    const answer = await gateway.chat(STREAM);
    t.notMatch(await answer.text(), ' there');
    const record = await gateway.record(answer);
    t.match(record, { truncated: true, error_code: code });
    t.match(JSON.parse(record.response_text), { choices: [{ message: { content: /^Hi$/ } }] });
  });
}

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
